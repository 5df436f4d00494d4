package dev.fencepost.decide;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * A batch of the outbox: every row that is visible in snapshot {@code cur} and was not in {@code
 * last}. The rule, its proof and its traps are in spec/snapshot-cursor.md; this is its arithmetic.
 *
 * @param floor the sequence's last value, read before the mark that preceded {@code last}
 */
public record SnapshotWindow(Snapshot last, long floor, Snapshot cur) {

  /** Whether a committed row belongs to this batch. */
  public boolean contains(long tx, long seq) {
    return fresh(tx, seq) || late(tx, seq);
  }

  /**
   * A row above the floor of a transaction that {@code last} did not see and {@code cur} does.
   * Every transaction that began after the mark is here, with all its rows.
   */
  public boolean fresh(long tx, long seq) {
    return seq > floor && !last.sees(tx) && cur.sees(tx);
  }

  /** A row at or below the floor, of a transaction that {@code last} lists and that has ended. */
  public boolean late(long tx, long seq) {
    return seq <= floor && last.lists(tx) && cur.sees(tx);
  }

  /**
   * The transactions that {@code last} lists as running and that ended by {@code cur}, ascending.
   */
  public long[] ended() {
    return Arrays.stream(last.xip()).filter(cur::sees).toArray();
  }

  /**
   * Whether there is nothing to read, and so no need of a mark: the sequence has not moved and no
   * transaction that could have late rows has ended.
   *
   * @param nextFloor the sequence's last value now
   */
  public boolean idle(long nextFloor) {
    return nextFloor == floor && ended().length == 0;
  }

  /**
   * Below which no row of a running transaction can lie, for each that {@code cur} lists: what was
   * known before, or the floor of the window in which it first appears.
   *
   * @param known floors of the transactions that {@code last} lists
   */
  public Map<Long, Long> floors(Map<Long, Long> known) {
    Map<Long, Long> floors = new TreeMap<>();
    for (long tx : cur.xip()) {
      Long before = known.get(tx);
      if (before != null) {
        floors.put(tx, before);
      } else if (!last.lists(tx)) {
        floors.put(tx, floor);
      } // else: listed before by a checkpoint that lacks its floor; it is looked for by tx
    }
    return floors;
  }
}
