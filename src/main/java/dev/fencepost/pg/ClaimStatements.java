package dev.fencepost.pg;

import dev.fencepost.model.ActivityState;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The statements about deliveries, with their values. */
final class ClaimStatements {
  private final String behind;
  private final String start;
  private final String startNew;
  private final String store;
  private final String deliverAgain;

  ClaimStatements(PgDatabase database) {
    this.behind = database.sql(ClaimSql.BEHIND);
    this.start = database.sql(ClaimSql.START);
    this.startNew = database.sql(ClaimSql.START_NEW);
    this.store = database.sql(ClaimSql.STORE);
    this.deliverAgain = database.sql(ClaimSql.DELIVER_AGAIN);
  }

  static boolean unordered(List<Claim.Request> requests) {
    return requests.stream().allMatch(r -> r.key() == null);
  }

  /** Those that stand behind another event of their key, by their index. */
  Future<Set<Integer>> behind(SqlConnection connection, List<Claim.Request> requests) {
    Columns<Claim.Request> columns =
        new Columns<>(requests)
            .names(r -> r.id().consumer())
            .names(r -> r.id().eventId())
            .names(Claim.Request::key);
    return connection
        .preparedQuery(behind)
        .execute(columns.tuple())
        .map(
            rows -> {
              Set<Integer> found = new HashSet<>();
              rows.forEach(row -> found.add(row.getLong("ord").intValue() - 1));
              return found;
            });
  }

  /** First starts; rows that exist are not among the answers. */
  Future<RowSet<Row>> start(
      SqlConnection connection, String owner, long tag, List<Claim.Request> requests) {
    return connection.preparedQuery(start).execute(starts(owner, tag, requests));
  }

  /** First starts of events that are new; gives their batch. */
  Future<Long> startNew(
      SqlConnection connection, String owner, long tag, List<Claim.Request> requests) {
    return connection
        .preparedQuery(startNew)
        .execute(starts(owner, tag, requests))
        .map(rows -> rows.iterator().next().getLong("batch"));
  }

  private static Tuple starts(String owner, long tag, List<Claim.Request> requests) {
    FirstStarts firsts = FirstStarts.of(requests);
    return firsts.leases(firsts.columns(owner)).value(tag).tuple();
  }

  /** Stores rows that wait; rows that exist are not among the answers. */
  Future<RowSet<Row>> store(
      SqlConnection connection, ActivityState state, List<Claim.Request> requests) {
    boolean known = state != ActivityState.UNRESOLVED;
    Columns<Claim.Request> columns =
        new Columns<>(requests)
            .value(state.wire())
            .names(r -> r.id().consumer())
            .names(r -> r.id().eventId())
            .names(r -> r.work().type())
            .names(r -> known ? r.work().kind().wire() : null)
            .names(Claim.Request::key)
            .nullableLongs(r -> known ? (long) r.work().maxRetries() : null)
            .nullableLongs(r -> known ? (long) r.work().maxAttempts() : null)
            .booleans(Claim.Request::redelivered);
    StoredMessage.columns(columns.tuple(), requests, Claim.Request::envelope);
    return connection.preparedQuery(store).execute(columns.tuple());
  }

  /** How a delivery of a row that exists is meant. */
  enum Again {
    /** The type is known here: what waited for it goes on. */
    CLAIM,
    /** The type is not known here. */
    STORE,
    /** The message is to be kept, by a running row too; no redelivery is counted once more. */
    KEEP
  }

  Future<RowSet<Row>> again(SqlConnection connection, List<Claim.Request> requests, Again meant) {
    Columns<Claim.Request> columns =
        new Columns<>(requests)
            .value(meant == Again.KEEP)
            .names(r -> r.id().consumer())
            .names(r -> r.id().eventId())
            .names(r -> r.work().type())
            .names(r -> meant == Again.CLAIM ? r.work().kind().wire() : null)
            .booleans(r -> r.redelivered() && meant != Again.KEEP);
    StoredMessage.columns(columns.tuple(), requests, Claim.Request::envelope);
    return connection.preparedQuery(deliverAgain).execute(columns.tuple());
  }
}
