package dev.fencepost.operations;

import dev.fencepost.model.DeadLetterReason;
import java.time.Instant;
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
    Span span,
    @Nullable String search,
    @Nullable State state) {

  /** What has become of a dead letter. */
  public enum State {
    OPEN,
    REDRIVEN,
    DISCARDED
  }

  /** A span of time, open where null. */
  public record Span(@Nullable Instant since, @Nullable Instant until) {
    public static final Span ALWAYS = new Span(null, null);

    public Span {
      if (since != null && until != null && !since.isBefore(until)) {
        throw Input.refused("until", until.toString(), "a time after since, " + since);
      }
    }

    public static Span of(@Nullable String since, @Nullable String until, Instant now) {
      return new Span(Input.time("since", since, now), Input.time("until", until, now));
    }
  }

  /** From what an operator entered. */
  public static DeadLetterFilter of(
      @Nullable String consumer, @Nullable String type, @Nullable String reason, Span span) {
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
