package dev.fencepost.api;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes events in the caller's transaction on a Vert.x {@link SqlConnection}; the relay publishes
 * them once it has committed, and never when it was rolled back.
 *
 * <pre>{@code
 * pool.withTransaction(connection ->
 *     connection.preparedQuery("update orders set state = 'placed' where id = $1")
 *         .execute(Tuple.of(7))
 *         .compose(v -> outbox.publish(connection, message)));
 * }</pre>
 *
 * <p>Safe for use by several threads. For {@code java.sql} see {@link JdbcOutbox}.
 */
public final class Outbox {
  private final OutboxStatements statements;

  private Outbox(OutboxStatements statements) {
    this.statements = statements;
  }

  /** The outbox in the schema {@code fencepost}. */
  public static Outbox create() {
    return inSchema(OutboxStatements.DEFAULT_SCHEMA);
  }

  /** The outbox in a schema of another name, unquoted. */
  public static Outbox inSchema(String schema) {
    return new Outbox(new OutboxStatements(schema, OutboxStatements.Style.NUMBERED));
  }

  /**
   * Writes one event.
   *
   * @param connection with the transaction that the event belongs to
   * @return the event id; fails with what the database client fails with
   */
  public Future<String> publish(SqlConnection connection, OutboxMessage message) {
    boolean scheduled = message.deliverAt() != null;
    String sql = scheduled ? statements.schedule() : statements.insert();
    return connection.preparedQuery(sql).execute(tuple(message)).map(v -> message.eventId());
  }

  /**
   * Writes several events in their order, those of each kind (at once, scheduled) in one batch.
   *
   * @return the event ids, in the order of the messages
   */
  public Future<List<String>> publishAll(SqlConnection connection, List<OutboxMessage> messages) {
    List<Tuple> now = new ArrayList<>();
    List<Tuple> later = new ArrayList<>();
    for (OutboxMessage message : messages) {
      (message.deliverAt() == null ? now : later).add(tuple(message));
    }
    List<String> ids = messages.stream().map(OutboxMessage::eventId).toList();
    return batch(connection, statements.insert(), now)
        .compose(v -> batch(connection, statements.schedule(), later))
        .map(v -> ids);
  }

  private static Future<Void> batch(SqlConnection connection, String sql, List<Tuple> batch) {
    return batch.isEmpty()
        ? Future.succeededFuture()
        : connection.preparedQuery(sql).executeBatch(batch).mapEmpty();
  }

  private static Tuple tuple(OutboxMessage message) {
    Tuple tuple =
        Tuple.tuple()
            .addString(message.eventId())
            .addString(message.exchange())
            .addString(message.routingKey())
            .addString(message.type())
            .addString(message.key())
            .addBuffer(Buffer.buffer(message.body()))
            .addString(message.contentType())
            .addJsonObject(message.headers())
            .addJsonObject(message.properties());
    return message.deliverAt() == null
        ? tuple
        : tuple.addOffsetDateTime(message.deliverAt().atOffset(ZoneOffset.UTC));
  }
}
