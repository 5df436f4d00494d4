package dev.fencepost.api;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes events in the caller's transaction on a {@link java.sql.Connection} to PostgreSQL; the
 * relay publishes them once it has committed, and never when it was rolled back. Brings no driver.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * orders.place(connection, 7);
 * outbox.publish(connection, message);
 * connection.commit();
 * }</pre>
 *
 * <p>Safe for use by several threads, each with its own connection. For Vert.x see {@link Outbox}.
 */
public final class JdbcOutbox {
  private final OutboxStatements statements;

  private JdbcOutbox(OutboxStatements statements) {
    this.statements = statements;
  }

  /** The outbox in the schema {@code fencepost}. */
  public static JdbcOutbox create() {
    return inSchema(OutboxStatements.DEFAULT_SCHEMA);
  }

  /** The outbox in a schema of another name, unquoted. */
  public static JdbcOutbox inSchema(String schema) {
    return new JdbcOutbox(new OutboxStatements(schema, OutboxStatements.Style.QUESTION_MARKS));
  }

  /**
   * Writes one event.
   *
   * @param connection with the transaction that the event belongs to
   * @return the event id
   * @throws SQLException as the driver throws it
   */
  public String publish(Connection connection, OutboxMessage message) throws SQLException {
    publishAll(connection, List.of(message));
    return message.eventId();
  }

  /**
   * Writes several events in their order, those of each kind (at once, scheduled) in one batch.
   *
   * @return the event ids, in the order of the messages
   * @throws SQLException as the driver throws it
   */
  public List<String> publishAll(Connection connection, List<OutboxMessage> messages)
      throws SQLException {
    List<OutboxMessage> now = new ArrayList<>();
    List<OutboxMessage> later = new ArrayList<>();
    messages.forEach(each -> (each.deliverAt() == null ? now : later).add(each));
    batch(connection, statements.insert(), now);
    batch(connection, statements.schedule(), later);
    return messages.stream().map(OutboxMessage::eventId).toList();
  }

  private static void batch(Connection connection, String sql, List<OutboxMessage> messages)
      throws SQLException {
    if (messages.isEmpty()) {
      return;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (OutboxMessage message : messages) {
        set(statement, message);
        if (message.deliverAt() != null) {
          statement.execute(); // a function that returns a row is no batch
        } else {
          statement.addBatch();
        }
      }
      if (messages.get(0).deliverAt() == null) {
        statement.executeBatch();
      }
    }
  }

  private static void set(PreparedStatement statement, OutboxMessage message) throws SQLException {
    statement.setString(1, message.eventId());
    statement.setString(2, message.exchange());
    statement.setString(3, message.routingKey());
    statement.setString(4, message.type());
    statement.setString(5, message.key());
    statement.setBytes(6, message.body());
    statement.setString(7, message.contentType());
    statement.setString(8, message.headers().encode());
    statement.setString(9, message.properties().encode());
    Instant deliverAt = message.deliverAt();
    if (deliverAt != null) {
      statement.setObject(10, deliverAt.atOffset(ZoneOffset.UTC));
    }
  }
}
