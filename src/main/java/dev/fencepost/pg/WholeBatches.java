package dev.fencepost.pg;

import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.pg.BatchLedger.Batch;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Batches of which a group of plain successes ends all that still runs. They are completed by their
 * number: rows that lie side by side, none of them looked up by its key. What has been taken over
 * meanwhile, or has a receipt or a message of its own, is not touched; it is left to the way by
 * key.
 */
final class WholeBatches {
  private final BatchLedger ledger;
  private final List<Batch> batches;
  private final List<Integer> rows;

  private WholeBatches(BatchLedger ledger, List<Batch> batches, List<Integer> rows) {
    this.ledger = ledger;
    this.batches = batches;
    this.rows = rows;
  }

  /** Whether the first start of this event may be completed with its batch. */
  static boolean mayBe(Claim.Request request) {
    return request.key() == null && request.work().kind() != ActivityKind.IRREVERSIBLE;
  }

  /**
   * @param plain indexes of plain successes, each the only one of its start
   */
  static WholeBatches of(BatchLedger ledger, List<Integer> plain, IntFunction<Settlement> group) {
    Map<Batch, List<Integer>> found = new HashMap<>();
    for (int index : plain) {
      Settlement settlement = group.apply(index);
      Batch batch = silent(settlement) ? ledger.ofAlike(settlement.ticket()) : null;
      if (batch != null) {
        found.computeIfAbsent(batch, b -> new ArrayList<>()).add(index);
      }
    }
    List<Batch> batches = new ArrayList<>();
    List<Integer> rows = new ArrayList<>();
    found.forEach(
        (batch, in) -> {
          if (ledger.whole(batch, in.size())) {
            batches.add(batch);
            rows.addAll(in);
          }
        });
    return new WholeBatches(ledger, batches, rows);
  }

  static Columns<Batch> numbers(Columns<Batch> batches) {
    return batches.names(Batch::consumer).longs(Batch::number);
  }

  private static boolean silent(Settlement settlement) {
    return settlement.how() instanceof Settlement.Completed done && done.receipt().body() == null;
  }

  /** Those that are completed now: all of them, or (as far as is known) none. */
  Future<List<Integer>> complete(SqlConnection connection, String sql, String owner) {
    if (batches.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    Columns<Batch> columns =
        numbers(numbers(new Columns<>(ledger.drain()).value(owner)).of(batches));
    return connection
        .preparedQuery(sql)
        .execute(columns.tuple())
        .compose(updated -> judged(updated.rowCount()));
  }

  private Future<List<Integer>> judged(int updated) {
    if (updated > rows.size()) {
      batches.forEach(ledger::forget);
      return Future.failedFuture(
          new FencepostException(
              FailureKind.DATABASE_CONFLICT, "more rows run in a batch than were known"));
    }
    return Future.succeededFuture(updated == rows.size() ? rows : List.of());
  }
}
