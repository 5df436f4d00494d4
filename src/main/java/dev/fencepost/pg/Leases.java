package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.StorableText;
import dev.fencepost.worker.ActivityStore.Renewal;
import dev.fencepost.worker.ActivityStore.Renewed;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** What a holder writes while it runs: renewals with progress, and its receipt. */
final class Leases {
  private static final int RECEIPT_BYTES = 1024 * 1024;

  private final DurableWork work;
  private final Settlements settlements;
  private final BatchLedger batches;
  private final String renew;
  private final String receipt;

  Leases(DurableWork work, Settlements settlements, BatchLedger batches) {
    this.work = work;
    this.settlements = settlements;
    this.batches = batches;
    this.renew = work.sql(SettleSql.RENEW);
    this.receipt = work.sql(SettleSql.RECEIPT);
  }

  Future<List<Renewed>> renew(String owner, Duration ttl, List<Renewal> group) {
    if (group.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    Columns<Renewal> columns =
        new Columns<>(group)
            .value(owner)
            .value(ttl.toMillis())
            .names(r -> r.id().consumer())
            .names(r -> r.id().eventId())
            .longs(Renewal::fence)
            .nullableLongs(Renewal::progressSeq)
            .names(Renewal::phase);
    return work.execute(renew, columns.tuple())
        .map(
            rows -> {
              Renewed[] answers = new Renewed[group.size()];
              Arrays.fill(answers, Renewed.LOST);
              rows.forEach(
                  row ->
                      answers[row.getLong("ord").intValue() - 1] =
                          row.getBoolean("stored") ? Renewed.STORED : Renewed.SKIPPED);
              for (int i = 0; i < answers.length; i++) {
                if (answers[i] == Renewed.LOST) { // nobody will settle it
                  batches.lost(ClaimGroups.storable(group.get(i).id()), group.get(i).fence());
                }
              }
              return List.of(answers);
            });
  }

  /** Fails with INVALID_INPUT when the handler has recorded another outcome before. */
  Future<Boolean> recordReceipt(String owner, Claim.Ticket ticket, Receipt made) {
    ActivityId id = ClaimGroups.storable(ticket.id());
    Tuple values =
        Tuple.of(owner, id.consumer(), id.eventId(), ticket.fence())
            .addValue(made.outcome().wire())
            .addValue(StorableText.ofNullable(made.body(), RECEIPT_BYTES));
    return work.transaction(
        connection ->
            connection
                .preparedQuery(receipt)
                .execute(values)
                .compose(rows -> recorded(connection, rows, owner, ticket, made)));
  }

  private Future<Boolean> recorded(
      SqlConnection connection, RowSet<Row> rows, String owner, Claim.Ticket ticket, Receipt made) {
    for (Row row : rows) {
      String stands = row.getString("outcome");
      return stands.equals(made.outcome().wire())
          ? Future.succeededFuture(true)
          : Future.failedFuture(
              new FencepostException(
                  FailureKind.INVALID_INPUT,
                  "the receipt of " + ticket.id().eventId() + " says " + stands + " already"));
    }
    return settlements
        .missed(connection, owner, List.of(Settlements.ofReceipt(ticket, made)))
        .map(applied -> applied.getOrDefault(0, false));
  }
}
