package dev.fencepost.pg;

import dev.fencepost.model.ParkedReason;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What a new owner must know of a lane's parked rows. */
final class ParkedOfLane {
  final Set<String> keys = new HashSet<>();
  final Set<Long> seqs = new HashSet<>();
  final Set<Long> gone = new HashSet<>();
  final Map<String, ParkedReason> refused = new HashMap<>();

  static Map<Integer, ParkedOfLane> read(RowSet<Row> rows) {
    Map<Integer, ParkedOfLane> lanes = new HashMap<>();
    for (Row row : rows) {
      ParkedOfLane lane =
          lanes.computeIfAbsent((int) row.getShort(0), number -> new ParkedOfLane());
      if (row.getString(4) == null) {
        lane.gone.add(row.getLong(1));
        continue;
      }
      lane.seqs.add(row.getLong(1));
      if (row.getString(2) != null) {
        lane.keys.add(row.getString(2));
      }
      ParkedReason reason = ParkedReason.ofWire(row.getString(4));
      if (reason == ParkedReason.EXCHANGE_MISSING || reason == ParkedReason.ACCESS_REFUSED) {
        lane.refused.put(row.getString(3), reason);
      }
    }
    return lanes;
  }
}
