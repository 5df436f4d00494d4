package dev.fencepost.decide;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long this process may trust a lease that the database gave it. The database's clock owns the
 * lease; here only differences of the monotonic clock ({@link System#nanoTime()}) count.
 */
public final class LeaseRules {
  private static final Duration LEAST_MARGIN = Duration.ofMillis(50);

  private LeaseRules() {}

  /**
   * The margin kept for what passes between a check and the act it allows, and for clocks that run
   * at different speeds: a tenth of the ttl, at least 50 ms, at most half of it.
   */
  public static Duration margin(Duration ttl) {
    Duration tenth = ttl.dividedBy(10);
    Duration half = ttl.dividedBy(2);
    Duration wanted = tenth.compareTo(LEAST_MARGIN) < 0 ? LEAST_MARGIN : tenth;
    return wanted.compareTo(half) > 0 ? half : wanted;
  }

  /**
   * Until when a confirmed claim or renewal may be trusted.
   *
   * @param sentNanos the monotonic clock <em>before</em> the statement was sent: the database may
   *     have counted from any moment after it
   * @return a reading of the monotonic clock; compare it with {@link #trusted} only
   */
  public static long trustUntil(long sentNanos, Duration ttl, Duration margin) {
    return sentNanos + ttl.minus(margin).toNanos();
  }

  /** Whether a deadline still lies ahead. Right across the clock's overflow. */
  public static boolean trusted(long nowNanos, long trustUntilNanos) {
    return trustUntilNanos - nowNanos > 0;
  }

  /**
   * Whether a probe's "it never happened" may be believed: only when no call of the last start can
   * still be in the air, for that one answers "never happened" too.
   *
   * @param sinceLastStart by the database's clock, or null when the last start is not known
   * @param leakedSlot whether a handler of this activity is known that has not returned
   */
  public static boolean mayBelieveNeverHappened(
      @Nullable Duration sinceLastStart, Duration hardLimit, Duration grace, boolean leakedSlot) {
    return !leakedSlot
        && sinceLastStart != null
        && sinceLastStart.compareTo(hardLimit.plus(grace)) > 0;
  }
}
