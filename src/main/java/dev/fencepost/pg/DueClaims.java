package dev.fencepost.pg;

import dev.fencepost.worker.ActivityStore.Slots;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Starts from the database: due retries, released events, suspects. */
final class DueClaims {
  private final DurableWork work;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final String due;

  DueClaims(DurableWork work, BatchLedger batches, KeyReleases releases) {
    this.work = work;
    this.batches = batches;
    this.releases = releases;
    this.due = work.sql(ClaimSql.DUE);
  }

  Future<List<Claim.Due>> due(String owner, String consumer, Map<String, Slots> free) {
    List<Slots> wanted = free.values().stream().filter(slots -> slots.free() > 0).toList();
    int total = wanted.stream().mapToInt(Slots::free).sum();
    return wanted.isEmpty()
        ? Future.succeededFuture(List.of())
        : claim(owner, consumer, wanted, false, total);
  }

  Future<Boolean> any(String consumer, String type) {
    return work.execute(work.sql(UpkeepSql.HAS_DUE), Tuple.of(consumer, type))
        .map(rows -> rows.iterator().next().getBoolean("due"));
  }

  Future<Claim.@Nullable Due> suspect(
      String owner, String consumer, Map<String, Claim.Work> types) {
    List<Slots> wanted = types.values().stream().map(each -> new Slots(each, 1)).toList();
    return wanted.isEmpty()
        ? Future.succeededFuture()
        : claim(owner, consumer, wanted, true, 1)
            .map(started -> started.isEmpty() ? null : started.get(0));
  }

  private Future<List<Claim.Due>> claim(
      String owner, String consumer, List<Slots> wanted, boolean suspects, int total) {
    Columns<Slots> columns =
        new Columns<>(wanted)
            .value(owner)
            .value(consumer)
            .names(s -> s.work().type())
            .names(s -> s.work().kind().wire())
            .longs(s -> s.work().maxRetries())
            .longs(s -> s.work().maxAttempts())
            .longs(s -> s.work().leaseTtl().toMillis())
            .value(suspects)
            .value((long) total)
            .longs(Slots::free);
    Map<String, Claim.Work> byType = new HashMap<>();
    wanted.forEach(slots -> byType.put(slots.work().type(), slots.work()));
    return work.execute(due, columns.tuple())
        .compose(
            rows -> {
              List<Claim.Due> started = new ArrayList<>(rows.size());
              KeyReleases.Keys ended = new KeyReleases.Keys();
              for (Row row : rows) {
                if (row.getBoolean("started")) {
                  started.add(started(row, byType));
                } else {
                  ended.ended(ActivityRows.id(row), row.getString("ordering_key"));
                }
              }
              return releases.after(started, ended);
            });
  }

  private Claim.Due started(Row row, Map<String, Claim.Work> byType) {
    Claim.Work of = Objects.requireNonNull(byType.get(row.getString("type")));
    Claim.Ticket ticket = ActivityRows.ticket(row, of);
    batches.started(ticket.id(), ticket.fence(), row.getLong("batch"));
    return new Claim.Due(ticket, row.getString("ordering_key"), StoredMessage.required(row));
  }
}
