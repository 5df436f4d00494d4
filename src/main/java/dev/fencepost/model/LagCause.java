package dev.fencepost.model;

import java.util.Locale;

/** Why a lane lags. */
public enum LagCause {
  NONE,
  TRANSACTION_INVISIBLE,
  KEY_PARKED,
  BROKER_BLOCKED,
  BROKER_DOWN,
  NO_OWNER,
  PARKED_FULL;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static LagCause ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
