package dev.fencepost.embedded;

import dev.fencepost.embedded.DemoPlan.Event;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The demo's application: writes events in its own transactions, as any application of a user
 * would, and rolls some back. Blocks.
 */
public final class DemoApplication {

  private static final String INSERT =
      """
      insert into fencepost.outbox (event_id, exchange, routing_key, type, key, payload)
      values (?, 'demo', ?, ?, ?, convert_to(?, 'UTF8'))
      """;

  private final DemoDatabase database;

  public DemoApplication(DemoDatabase database) {
    this.database = database;
  }

  /**
   * Writes the events, a few in each transaction, together with an order of the application's own.
   *
   * @param written told after each commit how many events it held
   */
  public void write(List<Event> events, IntConsumer written) {
    try (Connection connection = database.open()) {
      connection.setAutoCommit(false);
      int transaction = 0;
      for (int from = 0; from < events.size(); from += DemoPlan.EVENTS_PER_TRANSACTION) {
        int to = Math.min(events.size(), from + DemoPlan.EVENTS_PER_TRANSACTION);
        if (++transaction % DemoPlan.ROLLBACK_EVERY == 0) {
          insert(connection, "rolled-back-" + from, events.get(from));
          connection.rollback();
        }
        for (Event event : events.subList(from, to)) {
          insert(connection, event.id(), event);
          if (event.twice()) {
            insert(connection, event.id(), event);
          }
        }
        connection.commit();
        written.accept(to - from);
      }
    } catch (SQLException e) {
      throw new FencepostException(
          FailureKind.DATABASE_REFUSED, "the demo's application: " + e.getMessage(), e);
    }
  }

  private static void insert(Connection connection, String id, Event event) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      statement.setString(1, id);
      statement.setString(
          2, (event.behaviour().runsInDoomedWorker() ? "doomed." : "") + event.behaviour().type());
      statement.setString(3, event.behaviour().type());
      statement.setString(4, event.key());
      statement.setString(5, "{\"behaviour\": \"" + event.behaviour().name() + "\"}");
      statement.executeUpdate();
    }
  }
}
