package dev.fencepost.model;

import java.util.Locale;

/** Why an event ended as a dead letter. */
public enum DeadLetterReason {
  POISON_MESSAGE,
  PERMANENT_FAILURE,
  RETRIES_EXHAUSTED;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static DeadLetterReason ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
