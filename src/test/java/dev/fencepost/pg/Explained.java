package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What the server says of a statement. */
final class Explained {
  private Explained() {}

  static String plan(Statement statement, String sql) throws SQLException {
    StringBuilder plan = new StringBuilder();
    try (ResultSet lines = statement.executeQuery("explain " + sql)) {
      while (lines.next()) {
        plan.append(lines.getString(1)).append('\n');
      }
    }
    return plan.toString();
  }

  /** The pages that it reads, hit or not. */
  static long buffers(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery("explain (analyze, buffers, format json) " + sql)) {
      assertThat(row.next()).isTrue();
      JsonObject plan = new JsonArray(row.getString(1)).getJsonObject(0).getJsonObject("Plan");
      return plan.getLong("Shared Hit Blocks") + plan.getLong("Shared Read Blocks");
    }
  }
}
