package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The batches of a lane that are not settled whole, oldest first, each between two snapshots; only
 * the newest is still being read.
 */
final class LaneBatches {
  private static final int MOST = 64;

  private final Deque<Batch> open = new ArrayDeque<>();
  private Cursor base;

  LaneBatches(Cursor stored) {
    base = new Cursor(stored.last(), stored.floor(), stored.floors(), null, 0);
    if (stored.ahead() != null) {
      open.add(new Batch(base, stored.ahead(), stored.position()));
    }
  }

  /** Where the next batch begins. */
  Cursor tip() {
    Batch newest = open.peekLast();
    return newest == null ? base : newest.after();
  }

  /** How far all is settled. */
  Cursor settled() {
    Batch oldest = open.peek();
    return oldest == null ? base : oldest.cursor();
  }

  boolean takesMore() {
    return reading() == null && open.size() < MOST;
  }

  /** The batch that has pages left, or null. */
  @Nullable Batch reading() {
    Batch newest = open.peekLast();
    return newest == null || newest.whole() ? null : newest;
  }

  Batch add(Snapshot cur, long floor) {
    Batch batch = new Batch(tip(), new Cursor.Ahead(cur, floor), 0);
    open.add(batch);
    return batch;
  }

  /** Forgets what is settled whole. */
  boolean advance() {
    boolean moved = false;
    Batch oldest;
    while ((oldest = open.peek()) != null && oldest.done()) {
      base = oldest.after();
      open.remove();
      moved = true;
    }
    return moved;
  }
}
