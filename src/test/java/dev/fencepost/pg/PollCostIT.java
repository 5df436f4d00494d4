package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** R18: a poll costs the same whatever the backlog, with a plan from when the table was empty. */
class PollCostIT {
  private static final String FIRST =
      "('{0,1,2,3,4,5,6,7}', array_fill(0::bigint, array[8]), array_fill(0::bigint, array[8]),"
          + " array_fill('{}'::text, array[8]), array_fill(500, array[8]),"
          + " array_fill(1 << 24, array[8])::bigint[])";
  private static final String LATER =
      "(3::smallint, 5000, 0, '{}', 9000000000, '{}', 500, 16777216, 'life',"
          + " 9223372036854775807)";

  @Test
  void aPollCostsTheSameAtTenAndAtAHundredThousandRows() throws SQLException {
    costs(100_000);
  }

  @Test
  @Tag("soak")
  void aPollCostsTheSameAtTenThousandAndAtFiveMillionRows() throws SQLException {
    costs(5_000_000);
  }

  /** What others wrote is not looked at, whatever the planner has heard of the table. */
  @Test
  void looksForLateRowsByTheirTransaction() throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      insert(statement, 1, 3);
      long tx = first(statement, "select tx from fencepost.outbox limit 1");
      statement.execute("analyze fencepost.outbox");
      insert(statement, 4, 50_000);
      for (int slot = 0; slot < 8; slot++) {
        statement.execute(
            "select brin_summarize_new_values('fencepost.outbox_" + slot + "_tx_idx')");
      }
      connection.setAutoCommit(false);
      statement.execute(OutboxSql.BY_TX);
      statement.execute("prepare late(bigint[]) as " + schema.database().sql(OutboxSql.LATE));
      long blocks = Explained.buffers(statement, "execute late('{" + tx + "}')");
      assertThat(blocks).isBetween(1L, 200L);
    }
  }

  private static void costs(int rows) throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      for (int slot = 0; slot < 8; slot++) {
        statement.execute(
            "alter table fencepost.outbox_" + slot + " set (autovacuum_enabled = off)");
      }
      statement.execute("insert into fencepost.relay_life (life) values ('life')");
      setByIndex(statement);
      // Statistics and plans from when it was nearly empty: unguarded, this reads the whole
      // backlog.
      insert(statement, -20, -1);
      statement.execute("analyze fencepost.outbox");
      prepareBoth(statement, schema);
      insert(statement, 1, 10_000);
      long first = Explained.buffers(statement, "execute first" + FIRST);
      long later = Explained.buffers(statement, "execute later" + LATER);
      insert(statement, 10_001, rows);
      long firstOfMany = Explained.buffers(statement, "execute first" + FIRST);
      long laterOfMany = Explained.buffers(statement, "execute later" + LATER);
      System.out.printf(
          "poll of %d unread rows: first pages %d buffers, a later page %d; of 10000: %d, %d%n",
          rows, firstOfMany, laterOfMany, first, later);
      // Of another plan, made from statistics of any age, too.
      statement.execute("analyze fencepost.outbox");
      assertThat(Explained.buffers(statement, "execute first" + FIRST))
          .isBetween(100L, first * 12 / 10);
      assertThat(Explained.buffers(statement, "execute later" + LATER))
          .isBetween(10L, later * 12 / 10);
      // Not less than 500 rows are read, each by index: what a deeper tree costs is a page a lane.
      assertThat(firstOfMany).isBetween(100L, first * 12 / 10);
      assertThat(laterOfMany).isBetween(10L, later * 12 / 10);
    }
  }

  /** Planned anew, a turn costs the database several times as much. */
  @Test
  void aTurnIsPlannedOnceInASession() throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      setByIndex(statement);
      prepareBoth(statement, schema);
      assertThat(first(statement, "select sum(generic_plans) from pg_prepared_statements"))
          .isEqualTo(24);
      assertThat(first(statement, "select sum(custom_plans) from pg_prepared_statements")).isZero();
    }
  }

  /** One scan that is forbidden, of however small a table, and all plans look alike. */
  @Test
  void nothingIsReadWhole() throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      setByIndex(statement);
      prepareBoth(statement, schema);
      for (String each : List.of("execute first" + FIRST, "execute later" + LATER)) {
        assertThat(Explained.plan(statement, each))
            .contains("Index Scan")
            .doesNotContain("Seq Scan", "Gather");
      }
    }
  }

  /** As the sessions that read pages are. */
  private static void setByIndex(Statement statement) throws SQLException {
    for (Map.Entry<String, String> each : PgDatabase.BY_INDEX.entrySet()) {
      statement.execute("set " + each.getKey() + " = " + each.getValue());
    }
  }

  private static void prepareBoth(Statement statement, WorkerSchema schema) throws SQLException {
    prepare(statement, "first", schema.database().sql(OutboxSql.OPEN), FIRST);
    prepare(statement, "later", schema.database().sql(OutboxSql.PAGE), LATER);
  }

  /** Past the executions after which the server keeps a generic plan. */
  private static void prepare(Statement statement, String name, String sql, String arguments)
      throws SQLException {
    statement.execute("prepare " + name + " as " + sql);
    for (int i = 0; i < 12; i++) {
      statement.execute("execute " + name + arguments);
    }
  }

  private static void insert(Statement statement, int from, int to) throws SQLException {
    statement.execute(
        "insert into fencepost.outbox (type, key, payload) select 't', 'k' || n,"
            + " decode(repeat('00', 200), 'hex') from generate_series("
            + from
            + ", "
            + to
            + ") n");
  }

  private static long first(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).isTrue();
      return row.getLong(1);
    }
  }
}
