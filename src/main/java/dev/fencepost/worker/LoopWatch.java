package dev.fencepost.worker;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names the handler that blocks the event loop: afterwards, and while it does, by checks on another
 * thread, since the blocked loop cannot tell. Nothing is checked while no handler is called.
 */
final class LoopWatch {
  private static final Logger LOG = LoggerFactory.getLogger(LoopWatch.class);
  static final Duration ALLOWED = Duration.ofMillis(100);
  static final Duration ALARM = Duration.ofSeconds(1);
  static final Duration EVERY = Duration.ofMillis(250);

  private final Timers timers;
  private final Consumer<Runnable> later;
  private final AtomicBoolean checking = new AtomicBoolean();
  private volatile @Nullable Job inside;
  private volatile long since;
  private volatile boolean told;

  /**
   * @param later runs a check after {@link #EVERY}, from a thread that is not the loop's
   */
  LoopWatch(Timers timers, Consumer<Runnable> later) {
    this.timers = timers;
    this.later = later;
  }

  void enter(Job job) {
    since = timers.nanos();
    told = false;
    inside = job;
    goOn();
  }

  void leave(Job job) {
    inside = null;
    long took = timers.nanos() - since;
    if (took > ALLOWED.toNanos()) {
      WorkerLog.misbehaved(job, "blocked the event loop for " + took / 1_000_000 + "ms");
    }
  }

  private void goOn() {
    if (!checking.get() && checking.compareAndSet(false, true)) {
      later.accept(this::check);
    }
  }

  /** From a thread that is not the loop's. */
  private void check() {
    try {
      look();
    } catch (Throwable fault) { // the handler is watched nevertheless
      LOG.error("the watch over the event loop failed", fault);
    }
    checking.set(false);
    if (inside != null) { // one that was entered before this line found a check under way
      goOn();
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
