package dev.fencepost.worker;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names the handler that blocks the event loop: afterwards, and while it does. {@link #check} is
 * called from another thread, since the blocked loop cannot tell.
 */
final class LoopWatch {
  private static final Logger LOG = LoggerFactory.getLogger(LoopWatch.class);
  static final Duration ALLOWED = Duration.ofMillis(100);
  static final Duration ALARM = Duration.ofSeconds(1);

  private final Timers timers;
  private volatile @Nullable Job inside;
  private volatile long since;
  private volatile boolean told;

  LoopWatch(Timers timers) {
    this.timers = timers;
  }

  void enter(Job job) {
    since = timers.nanos();
    told = false;
    inside = job;
  }

  void leave(Job job) {
    inside = null;
    long took = timers.nanos() - since;
    if (took > ALLOWED.toNanos()) {
      WorkerLog.misbehaved(job, "blocked the event loop for " + took / 1_000_000 + "ms");
    }
  }

  /** From a thread that is not the loop's. */
  void check() {
    try {
      look();
    } catch (Throwable fault) { // it would not be asked again
      LOG.error("the watch over the event loop failed", fault);
    }
  }

  private void look() {
    Job job = inside;
    long silent = timers.nanos() - since;
    if (job != null && !told && silent > ALARM.toNanos()) {
      told = true;
      LOG.error(
          "handler event={} type={} queue={} blocks the event loop since {}ms",
          job.id.eventId(),
          job.lane.type(),
          job.id.consumer(),
          silent / 1_000_000);
    }
  }
}
