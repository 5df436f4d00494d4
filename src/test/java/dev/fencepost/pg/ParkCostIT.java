package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is done with parked rows looks at those that it is about, not at all that are parked. */
class ParkCostIT {
  private static final int KEYS = 100_000;
  private static final String ASKED =
      "execute park(0::smallint, '{k99001,k99002,k99003,k99004,k99005}')";

  /** At each park, with a plan from when the table was empty, too. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"demote", "promote"})
  void aParkCostsAFewBuffersWhateverIsParked(String which) throws SQLException {
    String sql = which.equals("demote") ? ParkedSql.DEMOTE : ParkedSql.PROMOTE;
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      for (Map.Entry<String, String> each : PgDatabase.BY_INDEX.entrySet()) {
        statement.execute("set " + each.getKey() + " = " + each.getValue());
      }
      statement.execute("prepare park as " + schema.database().sql(sql));
      statement.execute(ASKED);
      connection.setAutoCommit(false);
      fill(statement);
      assertThat(Explained.buffers(statement, ASKED))
          .as(Explained.plan(statement, ASKED))
          .isBetween(5L, 200L);
      statement.execute("analyze fencepost.parked_rows");
      assertThat(Explained.buffers(statement, ASKED)).isBetween(5L, 200L);
    }
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"promote", "state", "due"})
  void aRoundCostsAFewBuffersWhateverIsParked(String which) throws SQLException {
    String sql =
        switch (which) {
          case "promote" -> ParkedSql.PROMOTE;
          case "state" -> ParkedSql.STATE;
          default -> ParkedSql.DUE;
        };
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      fill(statement);
      statement.execute("analyze fencepost.parked_rows");
      statement.execute("prepare park as " + schema.database().sql(sql));
      String asked = which.equals("due") ? "execute park(0::smallint, 200, 4000000)" : ASKED;
      assertThat(Explained.buffers(statement, asked))
          .isBetween(5L, which.equals("due") ? 3_000L : 200L);
    }
  }

  /** Two rows of each key, mostly both as if they were the first of it. */
  private static void fill(Statement statement) throws SQLException {
    statement.execute(
        "insert into fencepost.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type,"
            + " key, payload, content_type, headers, properties, created_at, reason,"
            + " next_attempt_at) select 0, n, 1, 'e' || n, '', 'q', 't', 'k' || (n + 1) / 2, '',"
            + " 'text/plain', '{}', '{}', now(), 'unroutable',"
            + " case when n % 200 <> 1 then now() - n * interval '1 millisecond' end"
            + " from generate_series(1, "
            + 2 * KEYS
            + ") n");
  }
}
