package dev.fencepost.model;

import java.util.Locale;

/** The outcome that a receipt records. */
public enum ReceiptOutcome {
  SUCCEEDED,
  FAILED_PERMANENT;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static ReceiptOutcome ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
