package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The cursor rests on it: when the mark has a transaction id, the sequence has been read. The
 * sequence is replaced by a view that refuses to be read too late.
 */
class MarkOrderIT {
  private static final String NONE =
      "('me', 'life', '{}', '{}', '{}', '{}', '{}', '{}', '{}'," + " '{}', '{}', '{}')";
  private static final String ONE =
      "('me', 'life', '{0}', '{0}', '{1}', '{0}', '{100:100:}',"
          + " '{0}', '{\"{}\"}', '{null}', '{null}', '{0}')";

  @ParameterizedTest(name = "planned {0}")
  @ValueSource(strings = {"force_custom_plan", "force_generic_plan"})
  void theSequenceIsReadBeforeTheMarkHasATransactionId(String planned) throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      guardTheSequence(statement);
      statement.execute("insert into fencepost.relay_life (life) values ('life')");
      statement.execute("update fencepost.relay_leases set owner = 'me' where lane = 0");
      statement.execute("set plan_cache_mode = " + planned);
      statement.execute("prepare mark as " + schema.database().sql(OutboxSql.MARK));
      statement.execute("prepare alone as " + schema.database().sql(OutboxSql.MARK_ALONE));

      assertThat(appended(statement, "mark" + NONE)).isZero();
      assertThat(appended(statement, "mark" + ONE)).isOne();
      assertThat(appended(statement, "alone")).isZero();
    }
  }

  private static void guardTheSequence(Statement statement) throws SQLException {
    statement.execute("alter sequence fencepost.outbox_seq rename to real_seq");
    statement.execute(
        "create function fencepost.in_time() returns boolean language plpgsql volatile as $$"
            + " begin if pg_current_xact_id_if_assigned() is not null then"
            + " raise exception 'read too late'; end if; return true; end $$");
    statement.execute(
        "create view fencepost.outbox_seq as"
            + " select last_value, is_called from fencepost.real_seq where fencepost.in_time()");
  }

  private static int appended(Statement statement, String prepared) throws SQLException {
    try (ResultSet rows = statement.executeQuery("execute " + prepared)) {
      assertThat(rows.next()).isTrue();
      return ((Object[]) rows.getArray("appended").getArray()).length;
    }
  }
}
