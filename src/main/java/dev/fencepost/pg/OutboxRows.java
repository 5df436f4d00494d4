package dev.fencepost.pg;

import dev.fencepost.model.OutboxRow;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Reads rows as the outbox statements select them, by position. */
final class OutboxRows {
  private static final String NONE = "{}";

  private OutboxRows() {}

  static List<OutboxRow> list(RowSet<Row> result, int lane) {
    List<OutboxRow> rows = new ArrayList<>(result.size());
    for (Row row : result) {
      rows.add(map(row, 0, lane));
    }
    return rows;
  }

  /**
   * @param at the column of {@code seq}
   */
  static OutboxRow map(Row row, int at, int lane) {
    Buffer payload = row.getBuffer(at + 7);
    String headers = row.getString(at + 9);
    String properties = row.getString(at + 10);
    Long written = row.getLong(at + 11);
    return new OutboxRow(
        new OutboxRow.Position(row.getLong(at + 1), row.getLong(at), lane),
        new OutboxRow.Route(row.getString(at + 3), row.getString(at + 4)),
        row.getString(at + 2),
        row.getString(at + 5),
        row.getString(at + 6),
        new OutboxRow.Message(
            payload.getBytes(),
            row.getString(at + 8),
            headers == null ? NONE : headers,
            properties == null ? NONE : properties,
            written == null ? null : Instant.ofEpochSecond(written)));
  }
}
