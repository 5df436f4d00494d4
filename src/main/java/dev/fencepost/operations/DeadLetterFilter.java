package dev.fencepost.operations;

import dev.fencepost.model.DeadLetterReason;
import org.jspecify.annotations.Nullable;

/**
 * Null means any.
 *
 * @param span when they died: since (inclusive), until (exclusive)
 * @param search part of the event id, error class or error message, upper or lower case
 */
public record DeadLetterFilter(
    @Nullable String consumer,
    @Nullable String type,
    @Nullable DeadLetterReason reason,
    TimeSpan span,
    @Nullable String search,
    @Nullable State state) {

  /** What has become of a dead letter. */
  public enum State {
    OPEN,
    REDRIVEN,
    DISCARDED
  }

  /** From what an operator entered. */
  public static DeadLetterFilter of(
      @Nullable String consumer, @Nullable String type, @Nullable String reason, TimeSpan span) {
    return new DeadLetterFilter(
        Input.optional("consumer", consumer),
        Input.optional("type", type),
        Input.choice("reason", reason, DeadLetterReason.class),
        span,
        null,
        null);
  }

  public DeadLetterFilter withSearch(@Nullable String text) {
    return new DeadLetterFilter(
        consumer, type, reason, span, Input.optional("search", text), state);
  }

  public DeadLetterFilter withState(@Nullable State wanted) {
    return new DeadLetterFilter(consumer, type, reason, span, search, wanted);
  }

  /** Whether it lets everything through, apart from the state. */
  public boolean isOpen() {
    return consumer == null
        && type == null
        && reason == null
        && search == null
        && span.since() == null
        && span.until() == null;
  }
}
