package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What a statement reads, hit or not. */
final class Buffers {
  private Buffers() {}

  /**
   * @param execute a prepared statement with its arguments
   */
  static long of(Statement statement, String execute) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("explain (analyze, buffers, format json) execute " + execute)) {
      assertThat(row.next()).isTrue();
      JsonObject plan = new JsonArray(row.getString(1)).getJsonObject(0).getJsonObject("Plan");
      return plan.getLong("Shared Hit Blocks") + plan.getLong("Shared Read Blocks");
    }
  }
}
