package dev.fencepost.pg;

import dev.fencepost.operations.AuditFilter;
import dev.fencepost.operations.AuditStore;
import dev.fencepost.operations.Cursor;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** The audit log to read, by time. */
public final class PgAuditStore implements AuditStore {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private final PgDatabase database;

  public PgAuditStore(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<Page<ViewRow>> list(AuditFilter filter, Page.Request page) {
    JsonArray after = Cursor.read(page.after(), 2);
    SqlFilter where =
        new SqlFilter()
            .and("consumer = ?", filter.event().consumer())
            .and("event_id = ?", filter.event().eventId())
            .and("actor = ?", filter.actor())
            .and("action = ?", filter.action())
            .and("at >= ?", time(filter.span().since()))
            .and("at < ?", time(filter.span().until()));
    if (after != null) {
      where.and(
          "(at, id) < (?1, ?2)",
          Cursor.time(after, 0).atOffset(ZoneOffset.UTC),
          Cursor.number(after, 1));
    }
    String statement = where.in(OperationsSql.AUDIT_LOG) + (page.limit() + 1);
    return database.with(
        DEADLINE,
        c ->
            c.preparedQuery(database.sql(statement))
                .execute(where.values())
                .map(
                    rows ->
                        PgHistoryStore.page(
                            ViewRows.of(rows),
                            page.limit(),
                            row -> Cursor.of(row.textOrEmpty("at"), row.number("id")))));
  }

  private static @Nullable OffsetDateTime time(@Nullable Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }
}
