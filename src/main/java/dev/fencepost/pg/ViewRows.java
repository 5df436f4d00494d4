package dev.fencepost.pg;

import dev.fencepost.operations.ViewRow;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import io.vertx.sqlclient.data.Numeric;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows of any view, column by column, in the value types that {@link ViewRow} names. */
final class ViewRows {
  private ViewRows() {}

  static List<ViewRow> of(RowSet<Row> rows) {
    List<ViewRow> found = new ArrayList<>(rows.size());
    rows.forEach(row -> found.add(of(row)));
    return found;
  }

  static ViewRow of(Row row) {
    Map<String, @Nullable Object> columns = new LinkedHashMap<>();
    for (int i = 0; i < row.size(); i++) {
      columns.put(row.getColumnName(i), value(row.getValue(i)));
    }
    return new ViewRow(columns);
  }

  private static @Nullable Object value(@Nullable Object value) {
    if (value == null || value == Tuple.JSON_NULL) {
      return null;
    }
    if (value instanceof OffsetDateTime time) {
      return time.toInstant();
    }
    if (value instanceof Buffer buffer) {
      return buffer.getBytes();
    }
    if (value instanceof Integer || value instanceof Short) {
      return ((Number) value).longValue();
    }
    if (value instanceof Numeric || value instanceof Float) {
      return ((Number) value).doubleValue();
    }
    return value;
  }
}
