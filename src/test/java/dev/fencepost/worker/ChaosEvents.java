package dev.fencepost.worker;

import com.rabbitmq.client.AMQP;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The events of a {@link ChaosIT} run, in a table of the test beside the worker's: of every kind,
 * one in twenty fails (half at once, half after all its retries), and one in 500 cannot be read.
 */
final class ChaosEvents {
  private static final String CREATE =
      """
      create table expected as
      select i, kind, fate, id as event_id, '{"id":"' || id || '"}' as body
      from (select i, kind, fate,
          case fate when 'succeeds' then '' else fate || '-' end || kind || '-' || i as id
        from (select i, (array['effect', 'idempotent', 'irreversible', 'pure', 'queryable'])[i %% 5 + 1]
              as kind,
            case when i %% 500 = 499 then 'unreadable' when i / 5 %% 40 = 7 then 'refused'
              when i / 5 %% 40 = 23 then 'hopeless' else 'succeeds' end as fate
          from generate_series(0, %d - 1) i) fates) ids
      """;

  private ChaosEvents() {}

  private record Event(String id, String kind, boolean readable, String body) {}

  /** Writes down what is expected and publishes it. */
  static void publish(String database, String broker, String queue, int events) throws Exception {
    PostgresServer.execute(
        database,
        CREATE.formatted(events),
        "create unique index on expected(event_id)",
        "analyze expected");
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(queue);
      for (Event event : read(database)) {
        AMQP.BasicProperties properties =
            event.readable()
                ? Publishing.properties(event.kind(), event.id())
                : new AMQP.BasicProperties.Builder().deliveryMode(2).type(event.kind()).build();
        publishing.send(queue, properties, event.body());
      }
      publishing.confirmed();
    }
  }

  private static List<Event> read(String database) throws SQLException {
    List<Event> events = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(database);
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "select event_id, kind, fate <> 'unreadable', body from expected order by i")) {
      while (rows.next()) {
        events.add(
            new Event(rows.getString(1), rows.getString(2), rows.getBoolean(3), rows.getString(4)));
      }
    }
    return events;
  }
}
