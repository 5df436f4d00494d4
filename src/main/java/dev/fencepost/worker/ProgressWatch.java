package dev.fencepost.worker;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Raises an alarm where a run is silent for longer than its type's {@code progress-timeout},
 * however healthy its heartbeat. Ends nothing: that is the hard limit's.
 */
final class ProgressWatch {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressWatch.class);

  /** Once a reload has taken the timeout away. */
  private static final Duration TAKE_BACK = Duration.ofSeconds(1);

  private final WorkerEnv env;
  private final TypeLane lane;
  private int stalled;

  ProgressWatch(WorkerEnv env, TypeLane lane) {
    this.env = env;
    this.lane = lane;
  }

  /**
   * How often to look, so that a stall is seen well before another renewal has passed. Rests while
   * nothing is held, or no timeout set, and nothing has been said that is to be taken back.
   */
  Duration pause() {
    Duration timeout = lane.config().timing().progress();
    if (stalled == 0 && (timeout == null || lane.held().isEmpty())) {
      return Rearmed.REST;
    }
    return timeout == null ? TAKE_BACK : timeout.dividedBy(8);
  }

  Future<Void> tick() {
    Duration timeout = lane.config().timing().progress();
    if (timeout == null && stalled == 0) {
      return Future.succeededFuture();
    }
    long now = env.timers().nanos();
    List<Future<?>> records = new ArrayList<>();
    int before = stalled;
    stalled = 0;
    for (Job job : lane.held()) {
      Run run = job.run();
      if (run != null && run.state() == Run.State.OPEN) {
        Duration silent = Duration.ofNanos(now - run.silentSince());
        boolean silentTooLong = timeout != null && silent.compareTo(timeout) > 0;
        stalled += silentTooLong ? 1 : 0;
        if (silentTooLong && !run.stalled()) {
          records.add(alarm(run, silent));
        }
        run.stalled(silentTooLong);
      }
    }
    if (stalled != before) {
      env.events().stalled(lane.queueName(), lane.type(), stalled);
    }
    return records.isEmpty() ? Future.succeededFuture() : Future.join(records).mapEmpty();
  }

  private Future<Void> alarm(Run run, Duration silent) {
    WorkerLog.stalled(run, silent);
    return env.store()
        .recordStall(run.ticket(), silent)
        .recover(
            e -> {
              LOG.warn("the stall of {} is not in the audit log: {}", run.job().id, e.toString());
              return Future.succeededFuture();
            });
  }
}
