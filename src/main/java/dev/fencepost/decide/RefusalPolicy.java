package dev.fencepost.decide;

import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import java.util.Optional;

/**
 * What a broker's answer says about a row. Decided by reply code alone: texts differ between
 * versions. Everything that is not a refusal is a transport fault and costs no row anything.
 */
public final class RefusalPolicy {
  private RefusalPolicy() {}

  /**
   * The reason in a {@code basic.return}: the message could not be routed.
   *
   * @param replyCode 312 (no route), 313 (no consumers) or 311 (too large for now)
   */
  public static ParkedReason returned(int replyCode) {
    return replyCode == 311 ? ParkedReason.TOO_LARGE : ParkedReason.UNROUTABLE;
  }

  /** The reason in a {@code basic.nack}: such as a full queue that rejects what is published. */
  public static ParkedReason nacked() {
    return ParkedReason.REJECTED;
  }

  /**
   * The reason when the broker closed a channel or connection with this reply code, or empty for a
   * transport fault. One of the unconfirmed rows is guilty; which one, only a second try alone
   * tells.
   *
   * <p>501 and 502 (frame and syntax errors) close the whole connection and still speak of what was
   * written: a header too long for a frame does so each time.
   */
  public static Optional<ParkedReason> closed(int replyCode) {
    return switch (replyCode) {
      case 311 -> Optional.of(ParkedReason.TOO_LARGE);
      case 403 -> Optional.of(ParkedReason.ACCESS_REFUSED);
      case 404 -> Optional.of(ParkedReason.EXCHANGE_MISSING);
      case 406, 501, 502 -> Optional.of(ParkedReason.INVALID_PROPERTY);
      default -> Optional.empty();
    };
  }

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
