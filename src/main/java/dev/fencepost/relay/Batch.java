package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.decide.SnapshotWindow;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A batch of one lane while it is read and published: late rows of long transactions first, looked
 * for by {@code tx}, then everything above {@link #start} in pages by seq. The first all lie at or
 * below {@code start}, so that the whole comes in the order of seq.
 */
final class Batch {
  /** How many seqs back the rows of a transaction that has ended are still read by index. */
  static final long NEAR = 50_000;

  private final Cursor from;
  private final Cursor.Ahead ahead;
  private final Start start;

  private final Deque<Long> late = new ArrayDeque<>();
  private boolean lateKnown;
  private long lateSought;
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
  }

  /** A batch from its beginning or, after a takeover, from the position of its checkpoint. */
  Batch(Cursor from, Cursor.Ahead ahead, long position) {
    this.from = from;
    this.ahead = ahead;
    this.start = Start.of(from, ahead.cur());
    this.settled = position;
    this.read = Math.max(start.above(), position);
    this.lateSought = position;
    this.lateKnown = start.old().length == 0 || position >= start.above();
  }

  Start start() {
    return start;
  }

  /** Whether seqs of late rows are still to be looked for. */
  boolean seeksLate() {
    return !lateKnown && late.isEmpty();
  }

  OutboxStore.LateRequest lateRequest(int lane, int limit) {
    return new OutboxStore.LateRequest(lane, start.old(), lateSought, start.above(), limit);
  }

  void lateFound(List<Long> seqs, int limit) {
    late.addAll(seqs);
    lateKnown = seqs.size() < limit;
    if (!seqs.isEmpty()) {
      lateSought = seqs.get(seqs.size() - 1);
    }
  }

  /** Seqs of the next late rows; empty when those are done. */
  List<Long> lateChunk(int rows) {
    return late.stream().limit(rows).toList();
  }

  /** That many of the late rows have been read. */
  void lateRead(int rows) {
    for (int i = 0; i < rows; i++) {
      late.remove();
    }
  }

  OutboxStore.Opening next(int lane, OutboxStore.Limit limit) {
    return new OutboxStore.Opening(lane, read, from.last(), limit);
  }

  Snapshot cur() {
    return ahead.cur();
  }

  void pageRead(long lastSeq, boolean more) {
    read = Math.max(read, lastSeq);
    whole = !more;
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
