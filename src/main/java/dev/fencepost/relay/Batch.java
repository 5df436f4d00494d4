package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.decide.SnapshotWindow;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A batch of one lane while it is read and published: late rows of long transactions first, where
 * they were found to lie, then everything above {@link #start}, all in pages by seq. The first all
 * lie at or below {@code start}, so that the whole comes in the order of seq. Every page is
 * filtered by the two snapshots: below {@code start} only rows of the old transactions pass.
 */
final class Batch {
  /** How many seqs back the rows of a transaction that has ended are still read by index. */
  static final long NEAR = 50_000;

  /** The same while it is not known which have ended. */
  private static final long AT_HAND = 1_000;

  private final Cursor from;
  private final Cursor.Ahead ahead;
  private final Start start;

  private final Deque<OutboxStore.Span> late = new ArrayDeque<>();
  private boolean lateKnown;
  private long lateRead;
  private long read;
  private boolean whole;
  private int held;
  private long settled;

  /**
   * @param above rows of the batch lie above, but for those of {@code old} transactions
   * @param old transactions whose rows may lie at or below it
   */
  record Start(long above, long[] old) {
    static Start of(Cursor from, Snapshot now) {
      long above = from.floor();
      long[] ended = new SnapshotWindow(from.last(), from.floor(), now).ended();
      long[] old = new long[ended.length];
      int olds = 0;
      for (long tx : ended) {
        long floor = from.floors().getOrDefault(tx, -1L);
        if (floor < 0 || floor < from.floor() - NEAR) {
          old[olds++] = tx;
        } else {
          above = Math.min(above, floor);
        }
      }
      return new Start(above, Arrays.copyOf(old, olds));
    }

    /** Where a batch begins if of those that were running only the youngest end before it. */
    static long likely(Cursor from) {
      long above = from.floor();
      for (long tx : from.last().xip()) {
        long floor = from.floors().getOrDefault(tx, -1L);
        if (floor >= from.floor() - AT_HAND) {
          above = Math.min(above, floor);
        }
      }
      return above;
    }
  }

  /** A batch from its beginning or, after a takeover, from the position of its checkpoint. */
  Batch(Cursor from, Cursor.Ahead ahead, long position) {
    this.from = from;
    this.ahead = ahead;
    this.start = Start.of(from, ahead.cur());
    this.settled = position;
    this.read = Math.max(start.above(), position);
    this.lateRead = position;
    this.lateKnown = start.old().length == 0 || position >= start.above();
  }

  Start start() {
    return start;
  }

  /** Whether it is still to be looked for where late rows lie. */
  boolean seeksLate() {
    return !lateKnown;
  }

  /** They lie here, among rows of others and those that belong to no late part of the batch. */
  void lateFound(List<OutboxStore.Span> spans) {
    for (OutboxStore.Span span : spans) {
      long above = Math.max(span.above(), lateRead);
      long upTo = Math.min(span.upTo(), start.above());
      if (above < upTo) {
        late.add(new OutboxStore.Span(above, upTo));
      }
    }
    lateKnown = true;
  }

  OutboxStore.PageRequest next(String life, int lane, OutboxStore.Limit limit) {
    OutboxStore.Span span = late.peek();
    long above = span == null ? read : Math.max(span.above(), lateRead);
    OutboxStore.Opening opening = new OutboxStore.Opening(lane, above, from.last(), limit);
    return new OutboxStore.PageRequest(
        life, opening, span == null ? Long.MAX_VALUE : span.upTo(), ahead.cur());
  }

  void pageRead(long lastSeq, boolean more) {
    if (late.isEmpty()) {
      read = Math.max(read, lastSeq);
      whole = !more;
    } else if (more) {
      lateRead = lastSeq;
    } else {
      late.remove();
    }
  }

  boolean whole() {
    return whole;
  }

  void hold() {
    held++;
  }

  /** All rows up to {@code seq} are settled. */
  void settle(long seq) {
    held--;
    settled = seq;
  }

  boolean done() {
    return whole && held == 0;
  }

  /** The lane's cursor while this is its oldest batch. */
  Cursor cursor() {
    if (done()) {
      return from.after(ahead);
    }
    return settled == 0 ? from : from.within(ahead, settled);
  }

  Cursor after() {
    return from.after(ahead);
  }
}
