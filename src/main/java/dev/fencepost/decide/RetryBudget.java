package dev.fencepost.decide;

import java.time.Duration;

/**
 * How many retries of an activity type the whole fleet may start within a window: fewer than {@code
 * ratio} of the first starts in it, plus a floor, so that a remote that fails is not buried under
 * repetitions of what failed. Retries count when they start, not when they are scheduled.
 */
public final class RetryBudget {
  /** The window over which starts are compared. */
  public static final Duration WINDOW = Duration.ofSeconds(10);

  private RetryBudget() {}

  /**
   * Retries that may start now.
   *
   * @param firstStarts first starts within the window, of the fleet
   * @param retriesStarted retries started within the window, of the fleet
   * @param ratio retries allowed per first start, at least 0
   * @param minPerSecond retries a second that are allowed however few first starts there are
   * @return from 0 up; a denied retry is due later and burns no attempt
   */
  public static long available(
      long firstStarts, long retriesStarted, double ratio, double minPerSecond, Duration window) {
    double allowed = ratio * firstStarts + minPerSecond * window.toMillis() / 1000.0;
    // A ratio like 0.1 has no exact double: 0.1 × 30 must allow 3.
    long whole = (long) Math.floor(Math.min(allowed + 1e-9, Long.MAX_VALUE));
    return Math.max(0, whole - Math.max(0, retriesStarted));
  }

  /**
   * How many of {@code due} retries may start, in their order.
   *
   * @return at most {@code due}
   */
  public static int admit(int due, long available) {
    return (int) Math.max(0, Math.min(due, available));
  }
}
