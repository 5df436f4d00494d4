package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole service, killed again and again while several sessions write, and the broker restarted
 * under it: everything committed arrives, in order per key, and has its effect once.
 *
 * <p>{@code -Dfencepost.test.rows} and {@code -Dfencepost.test.kills} make it longer.
 */
@Timeout(600)
class KilledServiceIT {

  private static final int ROWS = Integer.getInteger("fencepost.test.rows", 3_000);
  private static final int KILLS = Integer.getInteger("fencepost.test.kills", 4);
  private static final int SESSIONS = 4;
  private static final int KEYS = 40;
  private static final Duration LONG = Duration.ofSeconds(180);

  @TempDir private Path folder;

  /** What was committed: event id → body. */
  private final Map<String, byte[]> committed = new ConcurrentHashMap<>();

  private String database;

  @Test
  void nothingIsLostNothingHasItsEffectTwice() throws Exception {
    database = TestServers.postgres().newDatabase();
    try (RabbitServer broker = RabbitServer.start()) {
      Path config = prepare(broker.uri());
      CompletableFuture<?>[] sessions = new CompletableFuture<?>[SESSIONS];
      for (int i = 0; i < SESSIONS; i++) {
        int session = i;
        sessions[i] = CompletableFuture.runAsync(() -> write(session));
      }
      Random random = new Random(7);
      for (int kill = 0; kill < KILLS; kill++) {
        try (ServiceProcess service =
            ServiceProcess.start(Main.class, "run", "-c", config.toString())) {
          service.awaitLine("runs relay=true worker=true", LONG);
          long before = count("select count(*) from audit");
          Await.until(
              "it gets on",
              LONG,
              () -> count("select count(*) from audit") > before + random.nextInt(60));
          if (kill == 1) {
            broker.restart();
          }
          service.kill();
        }
      }
      try (ServiceProcess service =
          ServiceProcess.start(Main.class, "run", "-c", config.toString())) {
        CompletableFuture.allOf(sessions).join();
        broker.restart();
        long failing = committed.values().stream().filter(KilledServiceIT::fails).count();
        Await.until(
            "all have ended",
            LONG,
            () ->
                count(
                        "select count(*) from fencepost.activities where state in ('completed', 'dead')")
                    == committed.size());
        assertThat(count("select count(distinct event_id) from audit"))
            .isEqualTo(committed.size() - failing);
        assertThat(count("select count(*) - count(distinct event_id) from audit")).isZero();
        assertThat(count("select count(*) from audit where event_id like 'rolled-back%'")).isZero();
        assertThat(count("select count(*) from fencepost.dead_letters")).isEqualTo(failing);
        assertThat(count("select count(distinct event_id) from fencepost.dead_letters"))
            .isEqualTo(failing);
        arrivedInOrder(broker.uri());
        service.terminate();
        assertThat(service.awaitExit(LONG)).isZero();
      }
    }
  }

  private Path prepare(String broker) throws Exception {
    PostgresServer.execute(
        database,
        "create table audit (event_id text not null, body bytea check (get_byte(body, 0) <> 0))",
        "create table aggregates (key text primary key)",
        "insert into aggregates select 'k' || n from generate_series(0, " + (KEYS - 1) + ") n");
    try (Connection connection = connect(broker);
        Channel channel = connection.createChannel()) {
      channel.exchangeDeclare("shop", "topic", true);
      channel.queueDeclare("plain", true, false, false, Map.of("x-queue-type", "quorum"));
      channel.queueBind("plain", "shop", "#");
      channel.queueDeclare("shop.audit", true, false, false, Map.of("x-queue-type", "quorum"));
      channel.queueBind("shop.audit", "shop", "#");
    }
    Path config =
        Files.writeString(
            folder.resolve("shop.yaml"),
            """
            database: {uris: ["%s"]}
            broker: {uris: ["%s"]}
            relay: {lease: {ttl: 2s, renew-every: 600ms}}
            worker: {sweep-every: 1s}
            admin: {port: %d}
            queues:
              audit:
                queue: shop.audit
                activities:
                  order.placed:
                    kind: effect
                    handler: {sql: "insert into audit values (:event_id, :payload_bytes)"}
                    lease: {ttl: 3s, renew-every: 1s}
            """
                .formatted(database, broker, Ports.free()));
    StringWriter said = new StringWriter();
    int code =
        Main.run(new PrintWriter(said), new PrintWriter(said), "migrate", "-c", config.toString());
    assertThat(code).as(said.toString()).isZero();
    return config;
  }

  /** One in a hundred is refused by the handler's statement for good. */
  private static boolean fails(byte[] body) {
    return body[0] == 0;
  }

  /** A session that locks the aggregate, writes its events and commits, or does not. */
  private void write(int session) {
    Random random = new Random(session);
    try (java.sql.Connection connection = PostgresServer.connect(database);
        PreparedStatement lock =
            connection.prepareStatement("select 1 from aggregates where key = ? for update");
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into fencepost.outbox (event_id, exchange, routing_key, type, key, payload,"
                    + " headers) values (?, 'shop', 'order.placed', 'order.placed', ?, ?,"
                    + " '{\"n\": 7, \"deep\": {\"list\": [1, \"two\", null]}}')")) {
      connection.setAutoCommit(false);
      int written = 0;
      for (int transaction = 0; written < ROWS / SESSIONS; transaction++) {
        boolean rollback = random.nextInt(10) == 0;
        String key = "k" + random.nextInt(KEYS);
        lock.setString(1, key);
        lock.execute();
        Map<String, byte[]> bodies = new HashMap<>();
        for (int i = 0; i <= random.nextInt(8); i++) {
          String id =
              (rollback ? "rolled-back-" : "event-") + session + "-" + transaction + "-" + i;
          byte[] body = new byte[1 + random.nextInt(300)];
          random.nextBytes(body);
          body[0] = (byte) (random.nextInt(100) == 0 ? 0 : 1);
          insert.setString(1, id);
          insert.setString(2, key);
          insert.setBytes(3, body);
          insert.executeUpdate();
          bodies.put(id, body);
        }
        if (rollback) {
          connection.rollback();
        } else {
          connection.commit();
          committed.putAll(bodies);
          written += bodies.size();
        }
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** By what a consumer without Fencepost finds in its queue. */
  private void arrivedInOrder(String broker) throws Exception {
    Map<String, Integer> first = new HashMap<>();
    Map<String, List<String>> byKey = new HashMap<>();
    try (Connection connection = connect(broker);
        Channel channel = connection.createChannel()) {
      int n = 0;
      for (GetResponse got = channel.basicGet("plain", true);
          got != null;
          got = channel.basicGet("plain", true)) {
        String id = got.getProps().getMessageId();
        assertThat(Arrays.equals(got.getBody(), committed.get(id))).as(id).isTrue();
        assertThat(got.getProps().getHeaders()).containsEntry("n", 7).containsKey("deep");
        if (first.putIfAbsent(id, n++) == null) {
          String key = got.getProps().getHeaders().get("fencepost-key").toString();
          byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(id);
        }
      }
    }
    assertThat(first.keySet()).isEqualTo(committed.keySet());
    Map<String, List<String>> written = new HashMap<>();
    try (java.sql.Connection connection = PostgresServer.connect(database);
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery("select key, event_id from fencepost.outbox order by seq")) {
      while (rows.next()) {
        written.computeIfAbsent(rows.getString(1), k -> new ArrayList<>()).add(rows.getString(2));
      }
    }
    assertThat(byKey).isEqualTo(written);
  }

  private static Connection connect(String broker) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(broker);
    return factory.newConnection();
  }

  private long count(String sql) throws SQLException {
    try (java.sql.Connection connection = PostgresServer.connect(database);
        ResultSet row = connection.createStatement().executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
