package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One delivery, or one start from the database, on its way from admission to its end. Its state is
 * confined to the worker's context.
 */
final class Job extends Turn {
  final TypeLane lane;
  final ActivityId id;
  final @Nullable String key;
  final Delivery.Envelope envelope;
  final long arrivedNanos;

  /** Null for a start from the database: nothing is to be acknowledged. */
  final @Nullable Delivery delivery;

  /** Whether the event may have a row already: redelivered, or asked about before. */
  final boolean known;

  /** Whether the next request counts a redelivery: until one has been answered. */
  private boolean counts;

  /** Whether its end is on its way to the database: it is not begun any more. */
  boolean settling;

  /** What was committed without an answer; null when there is no such thing. */
  Settlement.@Nullable How committing;

  /** Whether a transaction that did not end well has stored it as waiting: it is no duplicate. */
  boolean storedFresh;

  /** Whether it occupies a slot of its type and queue. */
  boolean hasSlot;

  /** Place in the list of held leases, or -1. */
  int heldAt = -1;

  long trustedUntil;
  private Claim.@Nullable Ticket ticket;
  private @Nullable Run run;
  private @Nullable List<Job> followers;

  Job(TypeLane lane, Decoded.Event event, Delivery delivery, long arrivedNanos) {
    this.lane = lane;
    this.id = new ActivityId(lane.queueName(), event.eventId());
    this.key = event.key();
    this.envelope = delivery.envelope();
    this.delivery = delivery;
    this.known = delivery.redelivered();
    this.counts = known;
    this.arrivedNanos = arrivedNanos;
  }

  Job(TypeLane lane, Claim.Due due, long trustedUntil, long arrivedNanos) {
    this.lane = lane;
    this.id = due.ticket().id();
    this.key = due.key() == null ? MessageDecoder.key(due.envelope()) : due.key();
    this.envelope = due.envelope();
    this.delivery = null;
    this.known = true;
    this.ticket = due.ticket();
    this.trustedUntil = trustedUntil;
    this.arrivedNanos = arrivedNanos;
  }

  private Job(Job before, long arrivedNanos) {
    this.lane = before.lane;
    this.id = before.id;
    this.key = before.key;
    this.envelope = before.envelope;
    this.delivery = before.delivery;
    this.known = true;
    this.counts = before.counts;
    this.arrivedNanos = arrivedNanos;
  }

  /** The same delivery, to be claimed anew. */
  Job again(long nowNanos) {
    return new Job(this, nowNanos);
  }

  void claimed(Claim.Ticket claimed, long trusted) {
    ticket = claimed;
    trustedUntil = trusted;
  }

  boolean isClaimed() {
    return ticket != null;
  }

  /** The right to run. */
  Claim.Ticket ticket() {
    if (ticket == null) {
      throw new FencepostException(FailureKind.INTERNAL, "not claimed: " + id);
    }
    return ticket;
  }

  /** The run in progress or just ended, null before the handler was invoked. */
  @Nullable Run run() {
    return run;
  }

  void running(@Nullable Run started) {
    run = started;
  }

  @Override
  @Nullable String orderedBy() {
    return lane.orderedByKey() ? key : null;
  }

  Claim.Request request() {
    return new Claim.Request(id, lane.work(), orderedBy(), counts, known, envelope);
  }

  /** A request about it has been answered: what it asks from now on is no redelivery. */
  void answered() {
    counts = false;
  }

  /** Another delivery of the event waits here until this one has ended. */
  void follow(Job follower) {
    if (followers == null) {
      followers = new ArrayList<>(1);
    }
    followers.add(follower);
  }

  List<Job> takeFollowers() {
    List<Job> taken = followers == null ? List.of() : followers;
    followers = null;
    return taken;
  }
}
