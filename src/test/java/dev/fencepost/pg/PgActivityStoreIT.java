package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.ActivityStoreContract;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The store's contract on PostgreSQL; what is seen is seen through the views. */
class PgActivityStoreIT extends ActivityStoreContract {
  private static WorkerSchema schema;

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  @Override
  protected ActivityStore store() {
    return schema.store();
  }

  @Override
  protected void elapse(Duration time) {
    schema.elapse(consumer, time);
  }

  /** Rows are moved back there, since the server's clock cannot be put forward. */
  @Override
  protected long nowCalled(long second, Duration passed) {
    return second - passed.toSeconds();
  }

  @Override
  protected Seen seen(ActivityId id) {
    try (Connection connection = PostgresServer.connect(schema.uri())) {
      return seen(connection, id);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected String stored(ActivityId id) {
    StringBuilder all = new StringBuilder();
    try (Connection connection = PostgresServer.connect(schema.uri())) {
      for (String table : List.of("activity", "attempt", "receipt", "dead_letter")) {
        String rows =
            "select t::text from fencepost." + table + " t where consumer = ? and event_id = ?";
        all.append(texts(connection, id, rows + " order by 1"));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return all.toString();
  }

  private static Seen seen(Connection connection, ActivityId id) throws SQLException {
    try (PreparedStatement statement =
        about(
            connection,
            id,
            "select * from fencepost.activities where consumer = ? and event_id = ?")) {
      ResultSet row = statement.executeQuery();
      return row.next()
          ? new Seen(
              ActivityState.ofWire(row.getString("state")),
              row.getInt("attempts"),
              row.getInt("retries"),
              row.getInt("redeliveries"),
              row.getLong("fence"),
              row.getBoolean("awaiting_message"),
              receipt(connection, id),
              outcomes(connection, id),
              deadLetters(connection, id),
              texts(
                  connection,
                  id,
                  "select action from fencepost.audit_log where consumer = ? and event_id = ? order by id"))
          : null;
    }
  }

  private static PreparedStatement about(Connection connection, ActivityId id, String sql)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setString(1, id.consumer());
    statement.setString(2, id.eventId());
    return statement;
  }

  private static List<String> texts(Connection connection, ActivityId id, String sql)
      throws SQLException {
    List<String> texts = new ArrayList<>();
    try (PreparedStatement statement = about(connection, id, sql)) {
      ResultSet rows = statement.executeQuery();
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }

  private static ReceiptOutcome receipt(Connection connection, ActivityId id) throws SQLException {
    List<String> outcomes =
        texts(
            connection,
            id,
            "select outcome from fencepost.receipts where consumer = ? and event_id = ?"
                + " order by generation desc");
    return outcomes.isEmpty() ? null : ReceiptOutcome.ofWire(outcomes.get(0));
  }

  private static List<AttemptOutcome> outcomes(Connection connection, ActivityId id)
      throws SQLException {
    return texts(
            connection,
            id,
            "select outcome from fencepost.attempts where consumer = ? and event_id = ?"
                + " and outcome is not null order by fence")
        .stream()
        .map(AttemptOutcome::ofWire)
        .toList();
  }

  private static List<Seen.Dead> deadLetters(Connection connection, ActivityId id)
      throws SQLException {
    List<Seen.Dead> dead = new ArrayList<>();
    try (PreparedStatement statement =
        about(
            connection,
            id,
            "select reason, attempts, body from fencepost.dead_letters"
                + " where consumer = ? and event_id = ? order by id")) {
      ResultSet rows = statement.executeQuery();
      while (rows.next()) {
        byte[] body = rows.getBytes(3);
        dead.add(
            new Seen.Dead(
                DeadLetterReason.ofWire(rows.getString(1)),
                rows.getInt(2),
                body == null ? null : new String(body, StandardCharsets.UTF_8)));
      }
    }
    return dead;
  }
}
