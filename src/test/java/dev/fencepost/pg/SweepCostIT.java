package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sweep looks at the batches that are due, not at all that is kept. */
class SweepCostIT {
  private static final int KEPT = 100_000;
  private static final int DUE = 300;

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"expired", "tidy"})
  void aBatchThatIsDueCostsAFewBuffersWhateverIsKept(String which) throws SQLException {
    boolean expired = which.equals("expired");
    String sql = expired ? RecoverySql.EXPIRED : RecoverySql.TIDY_BATCHES;
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      fill(statement);
      connection.setAutoCommit(false);
      statement.execute(DurableWork.SETTINGS);
      statement.execute("prepare sweep as " + schema.database().sql(sql));
      long buffers =
          Explained.buffers(statement, "execute sweep('c'" + (expired ? ", null, null, 10)" : ")"));
      // Tidying deletes its rows, too.
      assertThat(buffers).isBetween((long) DUE, DUE * (expired ? 4L : 8L));
    }
  }

  /** What the planner knows of both has it begin with the larger one. */
  private static void fill(Statement statement) throws SQLException {
    statement.execute(
        "insert into fencepost.activity (consumer, event_id, type, kind, state, batch, finished_at)"
            + " select 'c', 'e' || i, 't', 'effect', 'completed', i / 250, now()"
            + " from generate_series(1, "
            + KEPT
            + ") i");
    statement.execute(
        "insert into fencepost.claim_batch (consumer, batch, owner, until)"
            + " select 'c', 1000000 + i, 'o', now() - interval '1 second'"
            + " from generate_series(1, "
            + DUE
            + ") i");
    statement.execute("analyze fencepost.activity, fencepost.claim_batch");
  }
}
