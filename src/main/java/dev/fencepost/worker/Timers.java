package dev.fencepost.worker;

import java.time.Duration;
import java.time.Instant;

/** Port: clocks and one-shot timers on the worker's context; tests move them by hand. */
public interface Timers {

  /** The monotonic clock: what this process may still do is measured by nothing else. */
  long nanos();

  /** For display only. */
  Instant wallClock();

  /** Runs once on the worker's context. */
  Timer after(Duration delay, Runnable task);

  /** Runs soon on the worker's context; may be called from any thread. */
  void execute(Runnable task);

  /** Whether the caller is on the worker's context. */
  boolean onContext();

  /** A timer that has not fired may be cancelled. */
  interface Timer {
    void cancel();
  }
}
