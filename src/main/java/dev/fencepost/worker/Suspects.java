package dev.fencepost.worker;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events whose last start ended with its process: each runs alone in this one, unclaimed until its
 * turn, so that a message that kills is convicted by its own starts and charges nobody else. What
 * runs longer than {@link #ALONE} gets company again; ordinary work has at least half of the time.
 */
final class Suspects {
  private static final Logger LOG = LoggerFactory.getLogger(Suspects.class);
  static final Duration ALONE = Duration.ofSeconds(5);
  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  private final WorkerEnv env;
  private final Runner runner;
  private final Map<QueueLoop, RetryScheduler> queues;
  private final Set<String> consumers;
  private final List<TypeLane> lanes;
  private final Claims claims;
  private @Nullable Duration pause;

  Suspects(
      WorkerEnv env,
      Runner runner,
      Map<QueueLoop, RetryScheduler> queues,
      List<TypeLane> lanes,
      Claims claims) {
    this.env = env;
    this.runner = runner;
    this.queues = queues;
    this.consumers =
        queues.keySet().stream().map(QueueLoop::name).collect(Collectors.toUnmodifiableSet());
    this.lanes = lanes;
    this.claims = claims;
  }

  /** Until the next look: as long as the last ones had the process for themselves. */
  Duration pause() {
    return pause == null ? Beat.untilWhole(env.timers(), RetryLook.EVERY) : pause;
  }

  /** At most one suspect per queue, one after the other; suspects are due like retries. */
  Future<Void> tick() {
    pause = null;
    long begun = env.timers().nanos();
    return env.store()
        .mayBeDue(consumers)
        .compose(this::each)
        .map(
            found -> {
              pause = found ? Duration.ofNanos(env.timers().nanos() - begun) : null;
              return null;
            });
  }

  private Future<Boolean> each(Set<String> due) {
    Future<Boolean> all = Future.succeededFuture(false);
    for (Map.Entry<QueueLoop, RetryScheduler> queue : queues.entrySet()) {
      if (due.contains(queue.getKey().name())) {
        all =
            all.compose(some -> one(queue.getKey(), queue.getValue()).map(found -> found || some));
      }
    }
    return all;
  }

  private Future<Boolean> one(QueueLoop loop, RetryScheduler scheduler) {
    Map<String, Claim.Work> types = new HashMap<>();
    for (TypeLane lane : loop.lanes()) {
      if (lane.free > 0 && lane.handler().admission().closedFor().isEmpty()) {
        types.put(lane.type(), lane.work());
      }
    }
    if (types.isEmpty() || !env.admission().open()) {
      return Future.succeededFuture(false);
    }
    long sent = env.timers().nanos();
    env.active().claimingDue(true);
    return env.store()
        .claimSuspect(env.owner(), loop.name(), types)
        .onComplete(done -> env.active().claimingDue(false))
        .compose(
            due -> {
              TypeLane lane = due == null ? null : loop.lane(due.ticket().work().type());
              return due == null || lane == null
                  ? Future.succeededFuture(false)
                  : alone(scheduler.job(lane, due, sent)).map(true);
            });
  }

  private Future<Void> alone(Job job) {
    job.lane.loop().gates().enterAnyway(job);
    env.admission().exclusive(true);
    LOG.info(
        "suspect event={} type={} queue={} runs alone",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer());
    return until(() -> drained(job))
        .compose(
            drained -> {
              runner.start(job);
              return until(() -> job.finished);
            })
        .onComplete(done -> env.admission().exclusive(false));
  }

  private boolean drained(Job suspect) {
    if (claims.pending() > 0) {
      return false;
    }
    for (TypeLane lane : lanes) {
      boolean only = lane == suspect.lane && lane.held().size() == 1;
      if (!(lane.held().isEmpty() || only) || (lane.isEffect() && !lane.effects().idle())) {
        return false;
      }
    }
    return true;
  }

  /** Completes when it is so, or {@link #ALONE} has passed. */
  private Future<Void> until(BooleanSupplier condition) {
    Promise<Void> met = Promise.promise();
    look(condition, env.timers().nanos() + ALONE.toNanos(), met);
    return met.future();
  }

  private void look(BooleanSupplier condition, long deadline, Promise<Void> met) {
    if (condition.getAsBoolean() || deadline - env.timers().nanos() <= 0) {
      met.complete();
    } else {
      env.timers().after(LOOK_EVERY, () -> look(condition, deadline, met));
    }
  }
}
