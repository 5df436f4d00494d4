package dev.fencepost.worker;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks at soft and hard limits of everything that runs, on one coarse timer: a timer per message
 * would cost more than the message.
 */
final class LimitWatch {
  static final Duration EVERY = Duration.ofMillis(50);

  private final WorkerEnv env;
  private final Runner runner;
  private final List<TypeLane> lanes;

  LimitWatch(WorkerEnv env, Runner runner, List<TypeLane> lanes) {
    this.env = env;
    this.runner = runner;
    this.lanes = lanes;
  }

  /** Rests while nothing runs. */
  Duration pause() {
    for (TypeLane lane : lanes) {
      if (lane.isEffect() ? !lane.effects().open().isEmpty() : !lane.held().isEmpty()) {
        return EVERY;
      }
    }
    return Rearmed.REST;
  }

  Future<Void> tick() {
    long now = env.timers().nanos();
    for (TypeLane lane : lanes) {
      if (lane.isEffect()) {
        for (EffectRun run : List.copyOf(lane.effects().open())) {
          run.checkLimits(now);
        }
      } else {
        check(lane, now);
      }
    }
    return Future.succeededFuture();
  }

  private void check(TypeLane lane, long now) {
    List<Run> late = null;
    for (Job job : lane.held()) {
      Run run = job.run();
      if (run == null || run.state() != Run.State.OPEN) {
        continue;
      }
      long age = now - run.startedNanos();
      if (age > lane.hardLimit().toNanos()) {
        late = late == null ? new ArrayList<>() : late;
        late.add(run); // ends a job, which changes the list that is walked
      } else if (age > lane.softLimit().toNanos()) {
        runner.softLimit(run);
      }
    }
    if (late != null) {
      late.forEach(runner::hardLimit);
    }
  }
}
