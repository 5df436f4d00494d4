package dev.fencepost.operations;

import org.jspecify.annotations.Nullable;

/**
 * Null means any.
 *
 * @param event whose story
 * @param actor who did it: an operator, or the process that took over
 * @param action what was done, such as {@code redrive}
 */
public record AuditFilter(
    Event event, @Nullable String actor, @Nullable String action, TimeSpan span) {

  /** What the lines are about; what was done with a row of the outbox has no consumer. */
  public record Event(@Nullable String consumer, @Nullable String eventId) {
    public Event {
      consumer = Input.optional("consumer", consumer);
      eventId = Input.optional("event_id", eventId);
    }
  }

  public AuditFilter {
    actor = Input.optional("actor", actor);
    action = Input.optional("action", action);
  }
}
