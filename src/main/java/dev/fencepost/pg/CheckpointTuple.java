package dev.fencepost.pg;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.relay.Checkpoint;
import dev.fencepost.relay.Cursor;
import io.vertx.sqlclient.Tuple;
import java.util.List;

/** Checkpoints as the arguments of {@link OutboxSql#MARK}. */
final class CheckpointTuple {
  private CheckpointTuple() {}

  static Tuple of(String owner, String life, List<Checkpoint> checkpoints) {
    int n = checkpoints.size();
    Short[] lanes = new Short[n];
    Long[][] numbers = new Long[6][n];
    String[][] texts = new String[3][n];
    for (int i = 0; i < n; i++) {
      Checkpoint checkpoint = checkpoints.get(i);
      Cursor cursor = checkpoint.cursor();
      lanes[i] = (short) checkpoint.lane();
      numbers[0][i] = checkpoint.fence();
      numbers[1][i] = checkpoint.n();
      numbers[2][i] = checkpoint.before();
      texts[0][i] = cursor.last().toString();
      numbers[3][i] = cursor.floor();
      texts[1][i] = floors(cursor);
      Cursor.Ahead ahead = cursor.ahead();
      texts[2][i] = ahead == null ? null : ahead.cur().toString();
      numbers[4][i] = ahead == null ? null : ahead.floor();
      numbers[5][i] = cursor.position();
    }
    return Tuple.from(
        List.of(
            owner,
            life,
            lanes,
            numbers[0],
            numbers[1],
            numbers[2],
            texts[0],
            numbers[3],
            texts[1],
            texts[2],
            numbers[4],
            numbers[5]));
  }

  /**
   * One floor for each transaction that {@code last} lists, in its order; -1 where none is known.
   */
  private static String floors(Cursor cursor) {
    Snapshot last = cursor.last();
    long[] xip = last.xip();
    long[] floors = new long[xip.length];
    for (int i = 0; i < xip.length; i++) {
      floors[i] = cursor.floors().getOrDefault(xip[i], -1L);
    }
    return array(floors);
  }

  /** As PostgreSQL writes an array. */
  static String array(long[] values) {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < values.length; i++) {
      text.append(i == 0 ? "" : ",").append(values[i]);
    }
    return text.append('}').toString();
  }
}
