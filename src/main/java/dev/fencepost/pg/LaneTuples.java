package dev.fencepost.pg;

import dev.fencepost.model.StorableText;
import dev.fencepost.relay.LaneStore;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Arguments of {@link LaneSql}. */
final class LaneTuples {
  private static final int DETAIL_BYTES = 500;

  private LaneTuples() {}

  static Short[] shorts(Collection<Integer> lanes) {
    return lanes.stream().map(Integer::shortValue).toArray(Short[]::new);
  }

  /** Not {@code Tuple.of}: it would take the array for the rest of its arguments. */
  static Tuple with(short lane, Object[] array) {
    return Tuple.tuple().addShort(lane).addValue(array);
  }

  static Tuple reports(String instance, Duration ttl, List<LaneStore.Report> reports) {
    int n = reports.size();
    Short[] lanes = new Short[n];
    Long[] fences = new Long[n];
    Long[] positions = new Long[n];
    String[] causes = new String[n];
    String[] details = new String[n];
    Boolean[] behind = new Boolean[n];
    Long[] parked = new Long[n];
    for (int i = 0; i < n; i++) {
      LaneStore.Report report = reports.get(i);
      lanes[i] = (short) report.lane();
      fences[i] = report.fence();
      positions[i] = report.position();
      causes[i] = report.lag().cause().wire();
      String detail = report.lag().detail();
      details[i] = detail == null ? null : StorableText.of(detail, DETAIL_BYTES);
      behind[i] = report.lag().behind();
      parked[i] = report.parked();
    }
    return Tuple.from(
        List.of(
            instance, ttl.toMillis(), lanes, fences, positions, causes, details, behind, parked));
  }
}
