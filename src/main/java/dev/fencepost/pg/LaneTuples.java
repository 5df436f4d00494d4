package dev.fencepost.pg;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.StorableText;
import dev.fencepost.relay.LaneStore;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Arguments of {@link LaneSql}. */
final class LaneTuples {
  private static final int DETAIL_BYTES = 500;

  private LaneTuples() {}

  /**
   * An open transaction that has written to the outbox.
   *
   * @param since null when that may not be seen
   */
  record Hiding(long tx, String detail, @Nullable OffsetDateTime since) {
    boolean explains(LaneStore.Lag lag) {
      return lag.cause() == LagCause.NONE && lag.awaited().contains(tx);
    }
  }

  static Short[] shorts(Collection<Integer> lanes) {
    return lanes.stream().map(Integer::shortValue).toArray(Short[]::new);
  }

  /** Not {@code Tuple.of}: it would take the array for the rest of its arguments. */
  static Tuple with(short lane, Object[] array) {
    return Tuple.tuple().addShort(lane).addValue(array);
  }

  static Tuple reports(
      String instance, Duration ttl, List<LaneStore.Report> reports, @Nullable Hiding hiding) {
    int n = reports.size();
    Short[] lanes = new Short[n];
    Long[] fences = new Long[n];
    Long[] positions = new Long[n];
    String[] causes = new String[n];
    String[] details = new String[n];
    Boolean[] behind = new Boolean[n];
    Long[] parked = new Long[n];
    OffsetDateTime[] hidden = new OffsetDateTime[n];
    for (int i = 0; i < n; i++) {
      LaneStore.Report report = reports.get(i);
      lanes[i] = (short) report.lane();
      fences[i] = report.fence();
      positions[i] = report.position();
      LaneStore.Lag lag = report.lag();
      Hiding hides = hiding != null && hiding.explains(lag) ? hiding : null;
      causes[i] = (hides == null ? lag.cause() : LagCause.TRANSACTION_INVISIBLE).wire();
      String detail = hides == null ? lag.detail() : hides.detail();
      hidden[i] = hides == null ? null : hides.since();
      details[i] = detail == null ? null : StorableText.of(detail, DETAIL_BYTES);
      behind[i] = lag.behind();
      parked[i] = report.parked();
    }
    return Tuple.from(
        List.of(
            instance,
            ttl.toMillis(),
            lanes,
            fences,
            positions,
            causes,
            details,
            behind,
            parked,
            hidden));
  }
}
