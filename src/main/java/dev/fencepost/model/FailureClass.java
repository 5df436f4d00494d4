package dev.fencepost.model;

import java.util.Locale;

/** What a failed run says about the activity. */
public enum FailureClass {
  TRANSIENT,
  PERMANENT,
  /** It may have happened. */
  UNKNOWN,
  /** A graceful shutdown; not a failure. */
  INTERRUPTED,
  POISON;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static FailureClass ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
