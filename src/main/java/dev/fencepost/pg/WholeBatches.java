package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.pg.BatchLedger.Batch;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Batches of which a group of plain successes ends all that still runs. They are completed by their
 * number: rows that lie side by side, none of them looked up by its key. What has been taken over
 * meanwhile, or has a receipt or a message of its own, is not touched; it is left to the way by
 * key.
 */
final class WholeBatches {
  private static final WholeBatches NONE = new WholeBatches(List.of(), new BitSet());

  private final List<Batch> batches;
  private final BitSet rows;

  private WholeBatches(List<Batch> batches, BitSet rows) {
    this.batches = batches;
    this.rows = rows;
  }

  static WholeBatches none() {
    return NONE;
  }

  /** Whether the first start of this event may be completed with its batch. */
  static boolean mayBe(Claim.Request request) {
    return request.key() == null && request.work().kind() != ActivityKind.IRREVERSIBLE;
  }

  static boolean plain(Settlement settlement) {
    return settlement.how() instanceof Settlement.Completed done
        && done.receipt().outcome() == ReceiptOutcome.SUCCEEDED;
  }

  static WholeBatches of(BatchLedger ledger, List<Settlement> group) {
    Map<Batch, BitSet> found = new HashMap<>();
    for (int i = 0; i < group.size(); i++) {
      Settlement settlement = group.get(i);
      Batch batch = silent(settlement) ? ledger.ofAlike(settlement.ticket()) : null;
      if (batch != null) {
        found.computeIfAbsent(batch, b -> new BitSet()).set(i);
      }
    }
    List<Batch> batches = new ArrayList<>();
    BitSet rows = new BitSet();
    found.forEach(
        (batch, in) -> {
          if (ledger.whole(batch, in.cardinality()) && distinct(group, in)) {
            batches.add(batch);
            rows.or(in);
          }
        });
    return new WholeBatches(batches, rows);
  }

  /** One that is said twice would stand for another that still runs. */
  private static boolean distinct(List<Settlement> group, BitSet in) {
    Set<ActivityId> ids = new HashSet<>(2 * in.cardinality());
    return in.stream().allMatch(i -> ids.add(group.get(i).ticket().id()));
  }

  private static boolean silent(Settlement settlement) {
    return settlement.how() instanceof Settlement.Completed done
        && plain(settlement)
        && done.receipt().body() == null;
  }

  static Columns<Batch> numbers(Columns<Batch> batches) {
    return batches.names(Batch::consumer).longs(Batch::number);
  }

  List<Batch> batches() {
    return batches;
  }

  /** Whether the row of the settlement at this place is one of theirs. */
  boolean has(int index) {
    return rows.get(index);
  }

  /** Itself, when all of it is completed now; none, when (as far as is known) nothing of it is. */
  Future<WholeBatches> complete(
      SqlConnection connection, String sql, String owner, BatchLedger ledger) {
    if (batches.isEmpty()) {
      return Future.succeededFuture(NONE);
    }
    Columns<Batch> columns =
        numbers(numbers(new Columns<>(ledger.drain()).value(owner)).of(batches));
    return connection
        .preparedQuery(sql)
        .execute(columns.tuple())
        .compose(updated -> judged(ledger, updated.rowCount()));
  }

  private Future<WholeBatches> judged(BatchLedger ledger, int updated) {
    if (updated > rows.cardinality()) {
      batches.forEach(ledger::forget);
      return Future.failedFuture(
          new FencepostException(
              FailureKind.DATABASE_CONFLICT, "more rows run in a batch than were known"));
    }
    return Future.succeededFuture(updated == rows.cardinality() ? this : NONE);
  }
}
