package dev.fencepost.model;

import java.util.Locale;

/** What repeating a run of an activity would mean. */
public enum ActivityKind {
  /** No outside effect: may always be repeated. */
  PURE,
  /** The remote deduplicates: may be repeated. */
  IDEMPOTENT,
  /** May be repeated only after a probe says that it never happened. */
  QUERYABLE,
  /** Must never be repeated by a machine. */
  IRREVERSIBLE,
  /** Runs in one database transaction with its receipt. */
  EFFECT;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static ActivityKind ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
