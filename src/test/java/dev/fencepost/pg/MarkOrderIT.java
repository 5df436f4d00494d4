package dev.fencepost.pg;

import static dev.fencepost.testing.Await.failure;
import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FencepostException;
import dev.fencepost.relay.Checkpoint;
import dev.fencepost.relay.Cursor;
import dev.fencepost.relay.OutboxStore;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
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

  private static final Cursor START = new Cursor(Snapshot.of(100), 0, Map.of(), null, 0);

  @ParameterizedTest(name = "planned {0}")
  @ValueSource(strings = {"force_custom_plan", "force_generic_plan"})
  void theSequenceIsReadBeforeTheMarkHasATransactionId(String planned) throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      guardTheSequence(statement);
      own(statement);
      statement.execute("set plan_cache_mode = " + planned);
      statement.execute("prepare mark as " + schema.database().sql(OutboxSql.MARK));
      statement.execute("prepare alone as " + schema.database().sql(OutboxSql.MARK_ALONE));

      assertThat(appended(statement, "mark" + NONE)).isZero();
      assertThat(appended(statement, "mark" + ONE)).isOne();
      assertThat(appended(statement, "alone")).isZero();
    }
  }

  /**
   * The mark is committed before the snapshot is taken, which therefore lists every transaction
   * that was running: a snapshot ends with the last transaction that has ended.
   */
  @ParameterizedTest(name = "connected by {0}")
  @ValueSource(strings = {"", "?pgbouncer=true"})
  void aBatchListsEveryWriterThatWasRunningWhenItWasOpened(String parameters) throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        WorkerSchema relay = schema.again(parameters);
        Connection writer = PostgresServer.connect(schema.uri());
        Statement statement = writer.createStatement()) {
      own(statement);
      PgOutboxStore store = new PgOutboxStore(relay.database());
      for (Checkpoint checkpoint : List.of(checkpoint(1), checkpoint(2))) {
        for (List<Checkpoint> due : List.of(List.<Checkpoint>of(), List.of(checkpoint))) {
          writer.setAutoCommit(false);
          long tx = number(statement, "select pg_current_xact_id()");
          OutboxStore.Turn turn = store.open("me", "life", due, List.of(opening(10)));
          assertThat(result(turn.opened()).cur().lists(tx)).isTrue();
          assertThat(result(turn.marked()).appended()).hasSameSizeAs(due);
          writer.setAutoCommit(true);
        }
      }
    }
  }

  /** What is told to be appended is appended, whatever becomes of the reading. */
  @ParameterizedTest(name = "connected by {0}")
  @ValueSource(strings = {"", "?pgbouncer=true"})
  void aMarkCountsWhereTheReadingFails(String parameters) throws SQLException {
    try (WorkerSchema schema = WorkerSchema.open();
        WorkerSchema relay = schema.again(parameters);
        Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      own(statement);
      OutboxStore.Turn turn =
          new PgOutboxStore(relay.database())
              .open("me", "life", List.of(checkpoint(1)), List.of(opening(-1)));
      assertThat(failure(turn.opened())).isInstanceOf(FencepostException.class);
      assertThat(result(turn.marked()).appended()).containsExactly(0);
      assertThat(number(statement, "select max(n) from fencepost.relay_checkpoints")).isEqualTo(1);
    }
  }

  private static void own(Statement statement) throws SQLException {
    statement.execute("insert into fencepost.relay_life (life) values ('life')");
    statement.execute("update fencepost.relay_leases set owner = 'me' where lane = 0");
  }

  private static Checkpoint checkpoint(long n) {
    return new Checkpoint(0, 0, n, 0, START);
  }

  private static OutboxStore.Opening opening(int rows) {
    return new OutboxStore.Opening(0, 0, START.last(), new OutboxStore.Limit(rows, 1000));
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
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
