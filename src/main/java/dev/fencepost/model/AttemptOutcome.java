package dev.fencepost.model;

import java.util.Locale;

/** How one start of a handler ended. */
public enum AttemptOutcome {
  SUCCEEDED,
  TRANSIENT_FAILURE,
  PERMANENT_FAILURE,
  /** The hard limit passed. */
  TIMED_OUT,
  /** No answer. */
  UNKNOWN,
  /** Taken over by another owner. */
  LEASE_LOST,
  /** Graceful shutdown. */
  INTERRUPTED,
  /** Settled by probe, receipt or operator. */
  SUPERSEDED;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static AttemptOutcome ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
