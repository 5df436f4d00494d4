package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.api.FlywayException;

/**
 * How changes of tables wait for their locks. Whoever asks for a table after them waits behind
 * them, so they wait briefly, give way, and ask again for a while.
 *
 * @param atMost of all attempts together
 * @param pause in which the others have their turn
 */
record LockWaits(Duration atMost, Duration pause) {

  static final LockWaits USUAL = new LockWaits(Duration.ofSeconds(30), Duration.ofMillis(500));

  /** One attempt, on a table that applications write. */
  static final String AMONG_WRITERS = "100ms";

  /**
   * One attempt, on all else: longer than the second after which PostgreSQL has a vacuum of its own
   * give way.
   */
  static final String AMONG_OURS = "2s";

  private static final String NOT_AVAILABLE = "55P03";

  private static final String HOLDERS =
      """
      select distinct a.xact_start, 'pid ' || a.pid || ' (' || coalesce(a.usename, '') || ' '
        || coalesce(a.application_name, '') || ', ' || coalesce(a.state, '') || ', since '
        || date_trunc('second', a.xact_start) || ')'
      from pg_locks l
        join pg_class c on c.oid = l.relation
        join pg_stat_activity a on a.pid = l.pid
      where c.relnamespace = ?::regnamespace and l.granted and a.pid <> pg_backend_pid()
        and a.xact_start < now() - interval '100 milliseconds'
      order by 1 limit 5
      """;

  interface Change<T> {
    T run() throws SQLException;
  }

  /**
   * Blocks.
   *
   * @param connection to ask who is in the way
   * @param schema quoted
   * @throws FencepostException of kind DATABASE_CONFLICT when a lock was not to be had
   */
  <T> T run(Connection connection, String schema, Change<T> change) throws SQLException {
    long end = System.nanoTime() + atMost.toNanos();
    while (true) {
      try {
        return change.run();
      } catch (SQLException | FlywayException e) {
        if (!NOT_AVAILABLE.equals(PgErrors.sqlState(e))) {
          throw e;
        }
        if (System.nanoTime() >= end) {
          throw inTheWay(connection, schema, e);
        }
      }
      giveWay();
    }
  }

  private void giveWay() {
    try {
      TimeUnit.NANOSECONDS.sleep(pause.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FencepostException(FailureKind.INTERNAL, "interrupted", e);
    }
  }

  private FencepostException inTheWay(Connection connection, String schema, Exception failure)
      throws SQLException {
    List<String> holders = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(HOLDERS)) {
      statement.setString(1, schema);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          holders.add(rows.getString(2));
        }
      }
    }
    return new FencepostException(
        FailureKind.DATABASE_CONFLICT,
        "a table of "
            + schema
            + " could not be locked within "
            + atMost.toSeconds()
            + " s, and was left as it is: transactions are open on it"
            + (holders.isEmpty() ? " (pg_prepared_xacts?)" : ": " + String.join(", ", holders))
            + "; end them, or wait for their end, and run it again",
        failure);
  }
}
