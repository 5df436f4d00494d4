package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import org.jspecify.annotations.Nullable;

/** A row in memory, from its page to its settlement. Confined to the lane's {@link InFlight}. */
final class Held {
  /**
   * WAITING for an earlier one of its key; READY to be sent; SENT; SUSPECT, tried alone; PARKING,
   * on its way to the table of parked rows; SETTLED.
   */
  enum State {
    WAITING,
    READY,
    SENT,
    SUSPECT,
    PARKING,
    SETTLED
  }

  final OutboxRow row;
  final Batch batch;

  /** Counts up in the order of the outbox. */
  final long admitted;

  State state = State.WAITING;

  /** Whether it was ever written to the broker, and would be sent again after a crash. */
  boolean exposed;

  /** Whether it was written to another channel than the lane's, and may have arrived by that. */
  boolean tried;

  /** The next one of its key. */
  @Nullable Held behind;

  long sentAt;

  Held(OutboxRow row, Batch batch, long admitted) {
    this.row = row;
    this.batch = batch;
    this.admitted = admitted;
  }
}
