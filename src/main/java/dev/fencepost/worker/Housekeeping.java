package dev.fencepost.worker;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Steps;
import io.vertx.core.Future;
import java.util.List;

/** What a consumer does now and then: purges, types that became known, the count of reviews. */
final class Housekeeping {
  private static final int PAGE = 1_000;

  private final WorkerEnv env;
  private final QueueLoop loop;

  Housekeeping(WorkerEnv env, QueueLoop loop) {
    this.env = env;
    this.loop = loop;
  }

  Future<Void> tick() {
    FencepostConfig.Worker settings = env.settings();
    List<String> known = loop.lanes().stream().map(TypeLane::type).toList();
    return env.store()
        .resolveTypes(loop.name(), known, settings.unknownTypeAfter(), PAGE)
        .onComplete(asked -> env.admission().database(asked.cause()))
        .compose(resolved -> env.store().openReviews(loop.name()))
        .compose(
            open -> {
              env.events().reviewsOpen(loop.name(), open);
              return purge();
            });
  }

  private Future<Void> purge() {
    return Steps.until(
        () ->
            env.store()
                .purge(loop.name(), env.settings().receiptRetention(), PAGE)
                .map(gone -> gone >= PAGE && !env.admission().stopped()));
  }
}
