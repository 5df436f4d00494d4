package dev.fencepost.decide;

import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.FailureClass;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether a failed run is tried again, and when (spec/retry-policy.csv). Asked only while {@code
 * attempts < max-attempts}; at the limit the event is exhausted whatever it says.
 */
public final class RetryPolicy {
  /** What a remote may make us wait when that is longer than {@code max-delay}. */
  static final Duration LONGEST_ASKED_FOR = Duration.ofDays(1);

  private RetryPolicy() {}

  /**
   * The limits of one activity type.
   *
   * @param multiplier at least 1
   * @param jitter from 0 (none) to 1: the part of each delay that chance may take away
   */
  public record Limits(
      int maxRetries, Duration baseDelay, double multiplier, Duration maxDelay, double jitter) {}

  /** Try again after a delay, or give up with a reason. */
  public sealed interface Verdict {
    record Retry(Duration delay) implements Verdict {}

    record DeadLetter(DeadLetterReason reason) implements Verdict {}
  }

  /**
   * Decides about one failed run.
   *
   * @param retriesSoFar retries scheduled before in this generation, from 0
   * @param asked the least wait that the failure itself named ({@code Retry-After}), or null; it
   *     wins over {@code max-delay} up to a day
   * @param random uniform in [0, 1); only read with jitter
   * @throws IllegalArgumentException for {@code unknown} and {@code interrupted}: those are not
   *     failures to be retried; the first goes to the recovery table, the second is due at once
   */
  public static Verdict decide(
      FailureClass failure,
      int retriesSoFar,
      Limits limits,
      @Nullable Duration asked,
      double random) {
    return switch (failure) {
      case TRANSIENT ->
          retriesSoFar >= limits.maxRetries()
              ? new Verdict.DeadLetter(DeadLetterReason.RETRIES_EXHAUSTED)
              : new Verdict.Retry(
                  atLeast(asked, delay(retriesSoFar, limits, random), limits.maxDelay()));
      case PERMANENT -> new Verdict.DeadLetter(DeadLetterReason.PERMANENT_FAILURE);
      case POISON -> new Verdict.DeadLetter(DeadLetterReason.POISON_MESSAGE);
      case UNKNOWN, INTERRUPTED ->
          throw new IllegalArgumentException(
              failure.wire() + " is no failure that the retry policy decides about");
    };
  }

  /**
   * {@code base × multiplier^n}, at most {@code max-delay}, less what jitter takes away; whole
   * milliseconds. Never overflows.
   *
   * @param n how many times it was waited before, from 0
   */
  public static Duration delay(int n, Limits limits, double random) {
    double cap = limits.maxDelay().toMillis();
    double full = limits.baseDelay().toMillis() * Math.pow(limits.multiplier(), n);
    double capped = full < cap ? full : cap; // also where the power overflowed or is no number
    return Duration.ofMillis(Math.round(capped * (1 - limits.jitter() * random)));
  }

  private static Duration atLeast(@Nullable Duration asked, Duration delay, Duration maxDelay) {
    if (asked == null || asked.compareTo(delay) <= 0) {
      return delay;
    }
    return bounded(asked, maxDelay);
  }

  /** What a failure asked us to wait, within what a remote may make us. */
  public static Duration bounded(Duration asked, Duration maxDelay) {
    Duration longest = maxDelay.compareTo(LONGEST_ASKED_FOR) > 0 ? maxDelay : LONGEST_ASKED_FOR;
    return asked.compareTo(longest) > 0 ? longest : asked;
  }
}
