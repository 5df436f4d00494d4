package dev.fencepost.pg;

import dev.fencepost.model.ActivityState;
import dev.fencepost.operations.ActivityFilter;
import dev.fencepost.operations.ActivityHistory;
import dev.fencepost.operations.Cursor;
import dev.fencepost.operations.HistoryStore;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** Activities and their records, from the views. */
public final class PgHistoryStore implements HistoryStore {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private final PgDatabase database;

  public PgHistoryStore(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<Page<ViewRow>> list(ActivityFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 2);
    SqlFilter where = new SqlFilter();
    where.and("v.consumer = ?", filter.consumer()).and("v.type = ?", filter.type());
    if (filter.state() == ActivityState.COMPLETED) {
      where.and("v.state = 'completed'");
    }
    if (after != null) {
      where.and(
          "(v.consumer, v.event_id) > (?1, ?2)", Cursor.text(after, 0), Cursor.text(after, 1));
    }
    String statement = where.in(OperationsSql.activities(filter.state())) + (page.limit() + 1);
    return database.with(
        DEADLINE,
        c ->
            c.preparedQuery(database.sql(statement))
                .execute(where.values())
                .map(rows -> page(ViewRows.of(rows), page.limit(), PgHistoryStore::cursor)));
  }

  private static String cursor(ViewRow last) {
    return Cursor.of(last.textOrEmpty("consumer"), last.textOrEmpty("event_id"));
  }

  /** A page from one row more than it may have. */
  static Page<ViewRow> page(List<ViewRow> rows, int limit, Function<ViewRow, String> cursor) {
    if (rows.size() <= limit) {
      return new Page<>(rows, null);
    }
    List<ViewRow> items = List.copyOf(rows.subList(0, limit));
    return new Page<>(items, cursor.apply(items.get(limit - 1)));
  }

  @Override
  public Future<ActivityHistory> history(String consumer, String eventId) {
    Tuple event = Tuple.of(consumer, eventId);
    return database.with(
        DEADLINE,
        c ->
            Future.all(
                    List.of(
                        rows(c, OperationsSql.ACTIVITY, event),
                        rows(c, OperationsSql.ATTEMPTS, event),
                        rows(c, OperationsSql.RECEIPTS, event),
                        rows(c, OperationsSql.AUDIT, event),
                        rows(c, OperationsSql.DEAD_LETTERS_OF_EVENT, event)))
                .map(
                    all -> {
                      List<List<ViewRow>> lists = all.list();
                      return new ActivityHistory(
                          lists.get(0).isEmpty() ? null : lists.get(0).get(0),
                          lists.get(1),
                          lists.get(2),
                          lists.get(3),
                          lists.get(4));
                    }));
  }

  private Future<List<ViewRow>> rows(SqlConnection connection, String statement, Tuple values) {
    return connection.preparedQuery(database.sql(statement)).execute(values).map(ViewRows::of);
  }
}
