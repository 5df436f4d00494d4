package dev.fencepost.model;

import java.util.Locale;

/** What the recovery table decides about an activity whose run nobody reported. */
public enum RecoveryDecision {
  WAIT,
  RECORD_COMPLETION,
  RECORD_FAILURE,
  MANUAL_REVIEW,
  EXHAUSTED,
  RETRY_SAME_ACTIVITY;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static RecoveryDecision ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
