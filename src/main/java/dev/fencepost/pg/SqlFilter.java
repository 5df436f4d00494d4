package dev.fencepost.pg;

import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Conditions that are there only when they are asked for, so that each combination gets a plan of
 * its own. Values are parameters, never text.
 */
final class SqlFilter {
  private final List<String> conditions = new ArrayList<>();
  private final Tuple values = Tuple.tuple();

  /** A condition without a value. */
  SqlFilter and(String condition) {
    conditions.add(condition);
    return this;
  }

  /**
   * @param condition with {@code ?} for each place of the value
   * @param value null: no condition
   */
  SqlFilter and(String condition, @Nullable Object value) {
    if (value != null) {
      values.addValue(value);
      conditions.add(condition.replace("?", "$" + values.size()));
    }
    return this;
  }

  /** As {@link #and(String, Object)} with two values, {@code ?1} and {@code ?2}. */
  SqlFilter and(String condition, Object first, Object second) {
    values.addValue(first).addValue(second);
    conditions.add(
        condition.replace("?1", "$" + (values.size() - 1)).replace("?2", "$" + values.size()));
    return this;
  }

  /** The statement with the conditions in place of <code>${where}</code>. */
  String in(String statement) {
    return statement.replace(
        "${where}", conditions.isEmpty() ? "" : "where " + String.join(" and ", conditions));
  }

  Tuple values() {
    return values;
  }

  /** A pattern for {@code ilike} that finds the text itself. */
  static @Nullable String contains(@Nullable String text) {
    return text == null
        ? null
        : "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%";
  }
}
