package dev.fencepost.worker;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Steps;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;

/**
 * What is done for all consumers now and then: types that became known, the count of reviews,
 * purges. One statement after the other, so that a hundred queues together keep no claim waiting.
 */
final class Housekeeping {
  private static final int PAGE = 1_000;

  private final WorkerEnv env;
  private final List<QueueLoop> queues;

  Housekeeping(WorkerEnv env, List<QueueLoop> queues) {
    this.env = env;
    this.queues = queues;
  }

  Future<Void> tick() {
    return eachInTurn(loop -> look(loop).map(false));
  }

  private Future<Void> look(QueueLoop loop) {
    FencepostConfig.Worker settings = env.settings();
    List<String> known = loop.lanes().stream().map(TypeLane::type).toList();
    return env.store()
        .resolveTypes(loop.name(), known, settings.unknownTypeAfter(), PAGE)
        .onComplete(asked -> env.admission().database(asked.cause()))
        .compose(resolved -> env.store().openReviews(loop.name()))
        .map(
            open -> {
              env.events().reviewsOpen(loop.name(), open);
              return null;
            });
  }

  /** Apart from the rest, which is not to wait until a lot has been purged. */
  Future<Void> purge() {
    return eachInTurn(
        loop ->
            env.store()
                .purge(loop.name(), env.settings().receiptRetention(), PAGE)
                .map(gone -> gone >= PAGE));
  }

  /**
   * One that fails holds up no other, unless nothing can be asked now.
   *
   * @param step says whether the queue is to have another turn
   */
  private Future<Void> eachInTurn(Function<QueueLoop, Future<Boolean>> step) {
    ArrayDeque<QueueLoop> line = new ArrayDeque<>(queues);
    ArrayDeque<Throwable> failures = new ArrayDeque<>();
    return Steps.until(() -> turn(line, failures, step))
        .compose(
            done ->
                failures.isEmpty()
                    ? Future.succeededFuture()
                    : Future.failedFuture(failures.getFirst()));
  }

  private Future<Boolean> turn(
      ArrayDeque<QueueLoop> line,
      ArrayDeque<Throwable> failures,
      Function<QueueLoop, Future<Boolean>> step) {
    QueueLoop loop = line.poll();
    if (loop == null || env.admission().stopped()) {
      return Future.succeededFuture(false);
    }
    return Guarded.call(() -> step.apply(loop))
        .transform(
            done -> {
              if (done.failed()) {
                failures.add(done.cause());
              } else if (done.result()) {
                line.add(loop);
              }
              return Future.succeededFuture(!(done.failed() && Failures.outage(done.cause())));
            });
  }
}
