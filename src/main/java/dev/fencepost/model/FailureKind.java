package dev.fencepost.model;

import java.util.Locale;

/** What kind of failure an adapter met; decided once, by SQLSTATE or reply code. */
public enum FailureKind {
  /**
   * Connection refused, lost, timed out, or the server is starting or stopping, or out of disk or
   * memory: the same may be asked again later.
   */
  DATABASE_UNREACHABLE,
  /** SQLSTATE 25006: a replica, or a failover is under way. */
  DATABASE_READ_ONLY,
  /** Wrong user or password, or no such database. */
  DATABASE_AUTHENTICATION,
  /** SQLSTATE 42501. */
  DATABASE_RIGHTS,
  /** The schema is missing or older than this program. */
  SCHEMA_MISSING,
  /** The schema does not fit the configuration (lanes, retention) or cluster. */
  SCHEMA_MISMATCH,
  /** Deadlock, serialization failure, lock timeout: may be tried again. */
  DATABASE_CONFLICT,
  /** The statement or its data was refused. */
  DATABASE_REFUSED,
  /** Connection refused or lost. */
  BROKER_UNREACHABLE,
  /** Wrong user, password or virtual host. */
  BROKER_AUTHENTICATION,
  /** Reply code 403. */
  BROKER_ACCESS_REFUSED,
  /** Reply code 404. */
  BROKER_NOT_FOUND,
  /** Reply code 406. */
  BROKER_PRECONDITION,
  /** The broker does not take messages now. */
  BROKER_BLOCKED,
  /** The channel or its connection has gone. */
  CHANNEL_CLOSED,
  /** No answer in time: nothing is known. */
  TIMEOUT,
  /** Another owner has taken over; nothing was changed. */
  LEASE_LOST,
  /** The configuration is wrong. */
  CONFIGURATION,
  /** An argument of a command or request is wrong. */
  INVALID_INPUT,
  /** What was asked for does not exist. */
  NOT_FOUND,
  /** It has changed since it was read: decide again. */
  STALE,
  /** A fault of ours. */
  INTERNAL;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static FailureKind ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
