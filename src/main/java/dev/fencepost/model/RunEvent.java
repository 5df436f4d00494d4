package dev.fencepost.model;

import java.util.Locale;

/** What happened to a run, before it is classified by kind (spec/failure-classes.csv). */
public enum RunEvent {
  CONNECTION_REFUSED,
  NAME_NOT_RESOLVED,
  TLS_HANDSHAKE_FAILED,
  HTTP_400,
  HTTP_404,
  HTTP_408,
  HTTP_409,
  HTTP_422,
  HTTP_425,
  HTTP_429,
  HTTP_500,
  HTTP_502,
  HTTP_503,
  HTTP_504,
  /** The request may have been processed. */
  CONNECTION_LOST_AFTER_SEND,
  NO_ANSWER_BY_HARD_LIMIT,
  HANDLER_TRANSIENT_FAILURE,
  HANDLER_PERMANENT_FAILURE,
  HANDLER_OTHER_EXCEPTION,
  HANDLER_RETURNED_NULL,
  SHUTDOWN_BEFORE_START,
  SHUTDOWN_AFTER_START,
  MESSAGE_UNREADABLE;

  /** The name in SQL, JSON, metrics and configuration: lower case. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value with this wire name.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static RunEvent ofWire(String wire) {
    return valueOf(wire.toUpperCase(Locale.ROOT));
  }
}
