package dev.fencepost.operations;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import org.jspecify.annotations.Nullable;

/**
 * What to do with a parked row.
 *
 * @param row which
 * @param to where to instead, for REDIRECT; null otherwise
 */
public record ParkedRequest(Action action, Row row, Who by, @Nullable Target to) {

  private static final int NOTE = 2000;

  /** What the lane's owner is asked to do. */
  public enum Action {
    /** Publish it now, without waiting for its backoff. */
    RETRY,
    /** Never publish it; what waits behind it goes on. */
    SKIP,
    /** Publish it somewhere else. */
    REDIRECT
  }

  /**
   * A key names its first parked row, the one that holds the others up; REDIRECT also takes those
   * behind it that go to the same exchange and routing key, and {@code all} takes every row of it.
   *
   * @param name an ordering key or the seq of a row, as {@code by} says
   */
  public record Row(String name, By by, boolean all) {}

  /** What a row is named by. */
  public enum By {
    KEY,
    SEQ,
    /** A key of this name, else the row of this seq. */
    KEY_OR_SEQ
  }

  /**
   * @param routingKey null: as it was
   */
  public record Target(String exchange, @Nullable String routingKey) {
    public Target {
      // What AMQP cannot carry would be parked again at once.
      Input.shortString("exchange", exchange);
      Input.shortString("routing_key", routingKey);
    }
  }

  public ParkedRequest {
    Input.name("key or seq", row.name());
    Input.required("operator", by.operator(), 200);
    if (by.note() != null && by.note().length() > NOTE) {
      throw Input.refused("note", by.note(), "at most " + NOTE + " characters");
    }
    if (action == Action.REDIRECT && to == null) {
      throw new FencepostException(
          FailureKind.INVALID_INPUT, "exchange: is missing; say where to publish it instead");
    }
  }
}
