package dev.fencepost.pg;

import dev.fencepost.operations.Cursor;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ParkedFilter;
import dev.fencepost.operations.ParkedStore;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;

/** Parked rows to read. */
public final class PgParkedStore implements ParkedStore {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private final PgDatabase database;

  public PgParkedStore(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<Page<ViewRow>> list(ParkedFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 2);
    SqlFilter where =
        new SqlFilter()
            .and("key = ?", filter.key())
            .and("exchange = ?", filter.exchange())
            .and("reason = ?", filter.reason() == null ? null : filter.reason().wire());
    if (after != null) {
      where.and("(lane, seq) > (?1, ?2)", (short) Cursor.number(after, 0), Cursor.number(after, 1));
    }
    return rows(where.in(OperationsSql.PARKED) + (page.limit() + 1), where.values())
        .map(
            rows ->
                PgHistoryStore.page(
                    rows, page.limit(), row -> Cursor.of(row.number("lane"), row.number("seq"))));
  }

  @Override
  public Future<List<ViewRow>> ofKey(String key, int limit) {
    return rows(OperationsSql.PARKED_OF_KEY, Tuple.of(key, limit));
  }

  @Override
  public Future<List<ViewRow>> ofSeq(long seq) {
    return rows(OperationsSql.PARKED_OF_SEQ, Tuple.of(seq));
  }

  private Future<List<ViewRow>> rows(String statement, Tuple values) {
    return database.with(
        DEADLINE, c -> c.preparedQuery(database.sql(statement)).execute(values).map(ViewRows::of));
  }
}
