package dev.fencepost.pg;

import dev.fencepost.model.LagCause;
import dev.fencepost.relay.LaneStore;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How all lanes stand, from {@link LaneSql#RENEW} and {@link LaneSql#STANDING}. */
final class StandingRows {
  private final String self;
  private final Set<String> alive = new HashSet<>();
  private final Map<String, Integer> owned = new HashMap<>();
  private final Set<Integer> free = new HashSet<>();
  private final Set<Integer> own = new HashSet<>();
  private @Nullable Duration next;
  private long parked;

  private StandingRows(String self) {
    this.self = self;
  }

  static LaneStore.Standing read(String self, RowSet<Row> renewed, RowSet<Row> all) {
    Map<Integer, LaneStore.Behind> mine = new HashMap<>();
    renewed.forEach(
        row ->
            mine.put(
                (int) row.getShort(0),
                new LaneStore.Behind(
                    Duration.ofMillis(row.getLong(1)), LagCause.ofWire(row.getString(2)))));
    StandingRows rows = new StandingRows(self);
    all.forEach(rows::add);
    rows.alive.forEach(instance -> rows.owned.putIfAbsent(instance, 0));
    rows.owned.keySet().retainAll(rows.alive);
    return new LaneStore.Standing(mine, rows.owned, rows.free, rows.own, rows.next, rows.parked);
  }

  private void add(Row row) {
    Short lane = row.getShort(0);
    String owner = row.getString(1);
    if (lane == null) {
      alive.add(owner);
      return;
    }
    parked += row.getLong(3);
    if (owner == null) {
      free.add((int) lane);
      return;
    }
    owned.merge(owner, 1, Integer::sum);
    if (owner.equals(self)) {
      own.add((int) lane);
      return;
    }
    Duration left = Duration.ofMillis(row.getLong(2));
    if (next == null || left.compareTo(next) < 0) {
      next = left;
    }
  }
}
