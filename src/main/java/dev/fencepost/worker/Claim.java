package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.Delivery;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a worker asks for when it wants to start an activity, and what it is told. */
public final class Claim {
  private Claim() {}

  /**
   * @param key the ordering key when the queue is ordered by key, else null
   * @param redelivered the broker's flag, until a request about the delivery has been answered:
   *     counts a redelivery
   * @param known whether the event may have a row already
   * @param envelope stored when the row must wait and lacks its body
   */
  public record Request(
      ActivityId id,
      Work work,
      @Nullable String key,
      boolean redelivered,
      boolean known,
      Delivery.Envelope envelope) {
    /** What has been asked for the first time. */
    public Request(
        ActivityId id,
        Work work,
        @Nullable String key,
        boolean redelivered,
        Delivery.Envelope envelope) {
      this(id, work, key, redelivered, redelivered, envelope);
    }
  }

  /** What the configuration says of the type. */
  public record Work(
      String type, ActivityKind kind, int maxAttempts, int maxRetries, Duration leaseTtl) {}

  /** One answer per request, in the order of the requests. */
  public sealed interface Answer {}

  /** The start is counted and committed; the lease is ours. */
  public record Started(Ticket ticket) implements Answer {}

  /** In a terminal state: acknowledge. */
  public record Duplicate(ActivityState state, int retries) implements Answer {
    public Duplicate(ActivityState state) {
      this(state, 0);
    }
  }

  /**
   * Stored and waiting (retry_scheduled, blocked, manual_review, unresolved): acknowledge.
   *
   * @param fresh whether this very delivery has been stored; otherwise it is one more of an event
   *     that waits already
   */
  public record Waiting(ActivityState state, int retries, boolean fresh) implements Answer {
    /** An event that waits already. */
    public Waiting(ActivityState state, int retries) {
      this(state, retries, false);
    }

    /** An event that is new. */
    public Waiting(ActivityState state) {
      this(state, 0, true);
    }
  }

  /** Running under somebody's lease (or an earlier one of ours) for so long still. */
  public record Held(Duration remaining, Evidence evidence) implements Answer {}

  /** Running, and the lease has expired: the recovery table decides. */
  public record Expired(Evidence evidence) implements Answer {}

  /**
   * The right to run, and to settle, once.
   *
   * @param attempt starts of this generation, this one included
   * @param first whether it is the first start of the event in this generation
   * @param suspect whether its last start ended with its process
   */
  public record Ticket(
      ActivityId id,
      Work work,
      long fence,
      int attempt,
      int retries,
      int generation,
      boolean first,
      boolean suspect) {}

  /** A start from the database: a due retry, with its stored message. */
  public record Due(Ticket ticket, @Nullable String key, Delivery.Envelope envelope) {}
}
