package dev.fencepost.worker;

import java.time.Duration;

/** Delays that double while something is out of reach; half of each is left to chance. */
final class Backoff {
  private static final long FIRST_MILLIS = 50;
  private static final long LAST_MILLIS = 5_000;

  private long next = FIRST_MILLIS;

  Duration next() {
    long full = next;
    next = Math.min(LAST_MILLIS, next * 2);
    return Duration.ofMillis(full / 2 + (long) (Math.random() * full / 2));
  }

  void reset() {
    next = FIRST_MILLIS;
  }
}
