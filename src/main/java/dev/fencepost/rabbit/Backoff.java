package dev.fencepost.rabbit;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Waits between attempts: doubling up to a limit, half of it by chance. */
record Backoff(Duration base, Duration max) {

  /**
   * @param failures attempts that failed in a row, from 1
   * @return milliseconds, at least 1
   */
  long millis(int failures, RandomGenerator random) {
    double full =
        Math.min((double) max.toMillis(), base.toMillis() * Math.pow(2, Math.max(0, failures - 1)));
    return Math.max(1, Math.round(full * (0.5 + random.nextDouble() / 2)));
  }
}
