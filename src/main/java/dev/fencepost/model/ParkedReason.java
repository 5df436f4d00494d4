package dev.fencepost.model;

import java.util.Locale;

/** Why a row was parked instead of published. */
public enum ParkedReason {
  UNROUTABLE,
  EXCHANGE_MISSING,
  ACCESS_REFUSED,
  REJECTED,
  TOO_LARGE,
  INVALID_PROPERTY,
  /** An earlier row of its key is parked. */
  BEHIND_KEY;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static ParkedReason ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
