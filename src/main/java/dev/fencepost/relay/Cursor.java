package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.decide.SnapshotWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far a lane has got; what a checkpoint says (spec/snapshot-cursor.md).
 *
 * @param last everything visible in it is settled
 * @param floor the sequence's last value, read before the mark that preceded {@code last}
 * @param floors for each transaction that {@code last} lists: its rows lie above; one that is
 *     missing is looked for by {@code tx}
 * @param ahead the batch that is being published, or null between two
 * @param position the last settled seq of that batch, of those before which all are settled; 0 when
 *     none is
 */
public record Cursor(
    Snapshot last, long floor, Map<Long, Long> floors, @Nullable Ahead ahead, long position) {

  public record Ahead(Snapshot cur, long floor) {}

  /** The cursor once the batch up to {@code ahead} is settled whole. */
  Cursor after(Ahead next) {
    Map<Long, Long> known = new SnapshotWindow(last, floor, next.cur()).floors(floors);
    return new Cursor(next.cur(), next.floor(), known, null, 0);
  }

  /** The cursor with a batch under way. */
  Cursor within(Ahead next, long settled) {
    return new Cursor(last, floor, floors, next, settled);
  }

  /**
   * Whether there is nothing to read. A transaction that has ended and whose rows would lie above
   * the sequence's last value has none.
   *
   * @param nextFloor the sequence's last value, read no later than {@code now}
   */
  boolean idle(long nextFloor, Snapshot now) {
    if (nextFloor != floor) {
      return false;
    }
    for (long tx : new SnapshotWindow(last, floor, now).ended()) {
      if (floors.getOrDefault(tx, 0L) < floor) {
        return false;
      }
    }
    return true;
  }

  /** Whether a transaction that {@code last} lists may have rows that nobody has seen yet. */
  boolean awaits() {
    for (long tx : last.xip()) {
      if (floors.getOrDefault(tx, 0L) < floor) {
        return true;
      }
    }
    return false;
  }

  /** The transactions of which {@link #awaits} speaks. */
  List<Long> awaited() {
    List<Long> open = new ArrayList<>();
    for (long tx : last.xip()) {
      if (floors.getOrDefault(tx, 0L) < floor) {
        open.add(tx);
      }
    }
    return open;
  }

  /** About where the lane stands in the sequence, for people. */
  long reached() {
    return ahead == null ? floor : Math.max(position, Math.min(floor, ahead.floor()));
  }
}
