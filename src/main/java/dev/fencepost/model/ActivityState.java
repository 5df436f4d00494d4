package dev.fencepost.model;

import java.util.Locale;

/** The closed set of states of an activity. */
public enum ActivityState {
  RUNNING,
  RETRY_SCHEDULED,
  /** Ordered by key, behind an event that waits. */
  BLOCKED,
  COMPLETED,
  DEAD,
  MANUAL_REVIEW,
  /** Of a type that no worker knows yet. */
  UNRESOLVED;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static ActivityState ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
