package dev.fencepost.relay;

import org.jspecify.annotations.Nullable;

/** When a lane's next checkpoint is due, and which was the last. One is on its way at a time. */
final class LaneCheckpoints {
  private static final long QUIET_NANOS = 100_000_000L;
  private static final long THIN_NANOS = 2_000_000_000L;

  private final long fence;
  private final InFlight rows;
  private final LaneBatches batches;
  private final int enough;
  private Checkpoint newest;
  private long appendedAt = System.nanoTime();
  private boolean moved;
  private boolean appending;

  LaneCheckpoints(LaneStore.Taken taken, InFlight rows, LaneBatches batches, int enough) {
    this.fence = taken.fence();
    this.newest = taken.newest();
    this.rows = rows;
    this.batches = batches;
    this.enough = enough;
  }

  void moved() {
    moved = true;
  }

  boolean appending() {
    return appending;
  }

  /** Enough rows are settled for one. */
  boolean pressing() {
    return rows.coverable() >= enough;
  }

  /** After enough rows, after a while, or when forced; thinly where only snapshots moved. */
  @Nullable Checkpoint due(boolean forced) {
    long age = System.nanoTime() - appendedAt;
    boolean due =
        forced || pressing() || (rows.coverable() > 0 && age > QUIET_NANOS) || age > THIN_NANOS;
    return appending || !moved || !due ? null : next();
  }

  /** One that is appended whatever has moved. */
  Checkpoint next() {
    appending = true;
    moved = false;
    rows.cover();
    return newest.next(fence, batches.settled());
  }

  void appended(Checkpoint checkpoint) {
    appending = false;
    newest = checkpoint;
    appendedAt = System.nanoTime();
    rows.covered();
  }
}
