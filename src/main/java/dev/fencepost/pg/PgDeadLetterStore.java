package dev.fencepost.pg;

import dev.fencepost.operations.Cursor;
import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.DeadLetterStore;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Dead letters to read. */
public final class PgDeadLetterStore implements DeadLetterStore {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private final PgDatabase database;

  public PgDeadLetterStore(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<Page<ViewRow>> list(DeadLetterFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 1);
    SqlFilter where = where(filter);
    where.and("id < ?", after == null ? null : Cursor.number(after, 0));
    String statement = where.in(OperationsSql.DEAD_LETTERS) + (page.limit() + 1);
    return rows(statement, where.values())
        .map(rows -> PgHistoryStore.page(rows, page.limit(), row -> Cursor.of(row.number("id"))));
  }

  @Override
  public Future<List<ViewRow>> between(DeadLetterFilter filter, long after, long last, int limit) {
    SqlFilter where = where(filter).and("id > ?", after).and("id <= ?", last);
    return rows(where.in(OperationsSql.DEAD_LETTERS_BETWEEN) + limit, where.values());
  }

  private static SqlFilter where(DeadLetterFilter filter) {
    SqlFilter where = new SqlFilter();
    if (filter.state() != null) {
      // Not a parameter: the index of open ones is found by it.
      where.and("state = '" + filter.state().name().toLowerCase(Locale.ROOT) + "'");
    }
    return where
        .and("consumer = ?", filter.consumer())
        .and("type = ?", filter.type())
        .and("reason = ?", filter.reason() == null ? null : filter.reason().wire())
        .and("dead_at >= ?", time(filter.span().since()))
        .and("dead_at < ?", time(filter.span().until()))
        .and(
            "(event_id ilike ? or error_class ilike ? or error_message ilike ?)",
            SqlFilter.contains(filter.search()));
  }

  private static @Nullable OffsetDateTime time(@Nullable Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }

  @Override
  public Future<List<ViewRow>> byIds(List<Long> ids) {
    return rows(OperationsSql.DEAD_LETTERS_BY_ID, Tuple.of(ids.toArray(Long[]::new)));
  }

  @Override
  public Future<Long> newestId() {
    return rows(OperationsSql.NEWEST_DEAD_LETTER, Tuple.tuple())
        .map(rows -> rows.get(0).number("id"));
  }

  @Override
  public Future<@Nullable ViewRow> find(long id) {
    return rows(OperationsSql.DEAD_LETTER, Tuple.of(id))
        .map(rows -> rows.isEmpty() ? null : rows.get(0));
  }

  private Future<List<ViewRow>> rows(String statement, Tuple values) {
    return database.with(
        DEADLINE, c -> c.preparedQuery(database.sql(statement)).execute(values).map(ViewRows::of));
  }
}
