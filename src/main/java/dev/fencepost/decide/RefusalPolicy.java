package dev.fencepost.decide;

import dev.fencepost.model.ParkedReason;
import java.time.Duration;

/** What follows from a broker's refusal of a row. */
public final class RefusalPolicy {
  private RefusalPolicy() {}

  /**
   * Sharpens a 406 (precondition failed) once one row is convicted. The broker gives that code to a
   * bad expiration, a foreign user id, a reply to a consumer that there is not or a malformed CC or
   * BCC header, and to a body above its own limit: without any of the first, it is the size.
   */
  public static ParkedReason convicted(ParkedReason reason, boolean carriesCheckedProperty) {
    return reason == ParkedReason.INVALID_PROPERTY && !carriesCheckedProperty
        ? ParkedReason.TOO_LARGE
        : reason;
  }

  /**
   * How long a parked row waits before its owner tries it again: doubling from {@code base}, at
   * most {@code max}. Parked rows are never given up.
   *
   * @param attempts refusals so far, from 1
   */
  public static Duration backoff(int attempts, Duration base, Duration max) {
    int n = Math.max(0, attempts - 1);
    return RetryPolicy.delay(n, new RetryPolicy.Limits(Integer.MAX_VALUE, base, 2, max, 0), 0);
  }
}
