package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.LongString;
import dev.fencepost.api.JdbcOutbox;
import dev.fencepost.api.Outbox;
import dev.fencepost.api.OutboxMessage;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.ApplicationGrants;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What applications write, as a role that may do nothing else, and what arrives; R22, R23. */
class OutboxApiIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(4);
  private final dev.fencepost.relay.Outbox owner =
      new dev.fencepost.relay.Outbox(Databases.migrated(relay));

  private static OutboxMessage message(String key, String body) {
    return OutboxMessage.to("", "q", "order.placed").key(key).body(body).build();
  }

  private String application() {
    String role = "app_" + System.nanoTime();
    owner.execute("create role " + role + " login password 'app'");
    ApplicationGrants.statements("fencepost", role).forEach(owner::execute);
    return PostgresServer.uriAs(owner.uri(), role, "app");
  }

  @Test
  void bothWaysWriteInTheCallersTransaction() throws Exception {
    String uri = application();
    String vhost = TestServers.broker().newVhost();
    try (Arrivals arrivals = new Arrivals(vhost);
        RelayProcess process = RelayProcess.onRabbit(owner.uri(), vhost, relay)) {
      arrivals.declare("q", Map.of());
      arrivals.consume("q");
      jdbc(uri);
      vertx(uri);
      arrivals.await(6, Duration.ofSeconds(10));
      assertThat(arrivals.texts())
          .containsExactlyInAnyOrder("j1", "j2", "later", "v1", "v2", "v-later");
      assertThat(process.events.refused).isEmpty();
    }
  }

  private static void jdbc(String uri) throws SQLException {
    JdbcOutbox outbox = JdbcOutbox.create();
    OutboxMessage later =
        OutboxMessage.to("", "q", "t")
            .body("later")
            .deliverAt(Instant.now().plusSeconds(1))
            .build();
    try (Connection connection = PostgresServer.connect(uri)) {
      connection.setAutoCommit(false);
      outbox.publish(connection, message("a", "rolled back"));
      connection.rollback();
      outbox.publishAll(connection, List.of(message("a", "j1"), later, message("a", "j2")));
      connection.commit();
    }
  }

  private static void vertx(String uri) {
    Vertx vertx = Vertx.vertx();
    PgDatabase database = PgDatabase.open(vertx, RelayConfigs.database(uri), "application");
    Outbox outbox = Outbox.create();
    OutboxMessage later =
        OutboxMessage.to("", "q", "t")
            .body("v-later")
            .deliverAt(Instant.now().plusMillis(500))
            .build();
    try {
      Await.failure(
          database.inTransaction(
              Duration.ofSeconds(5),
              c ->
                  outbox
                      .publish(c, message("a", "rolled back"))
                      .compose(id -> Future.failedFuture(new IllegalStateException("no")))));
      List<String> ids =
          Await.result(
              database.inTransaction(
                  Duration.ofSeconds(5),
                  c ->
                      outbox.publishAll(
                          c, List.of(message("b", "v1"), later, message("b", "v2")))));
      assertThat(ids).hasSize(3).contains(later.eventId());
    } finally {
      Await.result(database.close());
      Await.result(vertx.close());
    }
  }

  @Test
  void r22TypesOfHeadersAreKept() throws Exception {
    String vhost = TestServers.broker().newVhost();
    OutboxMessage message =
        OutboxMessage.to("", "q", "t")
            .body(new byte[] {0, 1, (byte) 0xff})
            .contentType("application/octet-stream")
            .header("text", "ü")
            .header("whole", 42)
            .header("long", 1L << 40)
            .header("fraction", 1.5)
            .header("whole double", 25_000_000.0)
            .header("float", -1e8f)
            .header("short float", 0.1f)
            .header("great", 1e19)
            .header("small", 1.5e-10)
            .header("yes", true)
            .header("none", null)
            .header("bytes", new byte[] {1, 2})
            .header("at", Instant.ofEpochSecond(1_700_000_000))
            .header("map", Map.of("inner", List.of(1, "two")))
            .property("correlation_id", "c-1")
            .property("priority", 5)
            .build();
    try (Arrivals arrivals = new Arrivals(vhost);
        RelayProcess process = RelayProcess.onRabbit(owner.uri(), vhost, relay);
        Connection connection = PostgresServer.connect(application())) {
      arrivals.declare("q", Map.of());
      arrivals.consume("q");
      JdbcOutbox.create().publish(connection, message);
      arrivals.await(1, Duration.ofSeconds(10));
      Arrivals.Arrival got = arrivals.all.peek();
      assertThat(got.body()).containsExactly(0, 1, 0xff);
      assertThat(got.id()).isEqualTo(message.eventId());
      assertThat(got.properties().getContentType()).isEqualTo("application/octet-stream");
      assertThat(got.properties().getCorrelationId()).isEqualTo("c-1");
      assertThat(got.properties().getPriority()).isEqualTo(5);
      assertThat(got.properties().getDeliveryMode()).isEqualTo(2);
      Map<String, Object> headers = got.properties().getHeaders();
      assertThat(headers)
          .containsEntry("whole", 42)
          .containsEntry("long", 1L << 40)
          .containsEntry("fraction", 1.5)
          .containsEntry("whole double", 25_000_000.0)
          .containsEntry("float", -1e8)
          .containsEntry("short float", 0.1)
          .containsEntry("great", 1e19)
          .containsEntry("small", 1.5e-10)
          .containsEntry("yes", true)
          .containsEntry("none", null)
          .containsEntry("at", new Date(1_700_000_000_000L));
      assertThat((byte[]) headers.get("bytes")).containsExactly(1, 2);
      assertThat((LongString) headers.get("text")).hasToString("ü");
      assertThat(process.events.refused).isEmpty();
    }
  }

  @Test
  void aNumberThatJsonLacksIsRefusedWhereItIsGiven() {
    OutboxMessage.Builder builder = OutboxMessage.to("", "q", "t");
    for (Object none : List.of(Double.NaN, Double.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY)) {
      assertThatThrownBy(() -> builder.header("h", List.of(none)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(none.toString());
    }
    assertThat(builder.build().headers()).isEmpty();
  }

  @Test
  void r23BytesGoOutAsTheyAre() throws Exception {
    String vhost = TestServers.broker().newVhost();
    String awkward = "{\"nul\":\"\\u0000\",\"lone\":\"\\ud800\"}";
    try (Arrivals arrivals = new Arrivals(vhost);
        RelayProcess process = RelayProcess.onRabbit(owner.uri(), vhost, relay);
        Connection connection = PostgresServer.connect(application())) {
      arrivals.declare("q", Map.of());
      arrivals.consume("q");
      JdbcOutbox.create().publish(connection, message(null, awkward));
      JdbcOutbox.create().publish(connection, message(null, ""));
      arrivals.await(2, Duration.ofSeconds(10));
      assertThat(arrivals.texts()).containsExactlyInAnyOrder(awkward, "");
      owner.execute(
          "insert into fencepost.outbox (routing_key, type, payload)"
              + " values ('q', 't', decode('00ffc328', 'hex'))"); // no text in any encoding
      arrivals.await(3, Duration.ofSeconds(10));
      assertThat(arrivals.all.stream().map(Arrivals.Arrival::body))
          .contains(new byte[] {0, (byte) 0xff, (byte) 0xc3, 0x28});
      assertThat(process.events.refused).isEmpty();
    }
  }

  @Test
  void anApplicationMayWriteItsColumnsAndNothingElse() throws Exception {
    String role = "other_" + System.nanoTime();
    owner.execute("create role " + role + " login password 'app'");
    ApplicationGrants.statements("fencepost", role).forEach(owner::execute);
    String uri = PostgresServer.uriAs(owner.uri(), role, "app");
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement()) {
      statement.execute("insert into fencepost.outbox (type, payload) values ('t', '')");
      statement.execute(
          "insert into fencepost.outbox_events (id, aggregatetype, aggregateid, type, payload)"
              + " values (gen_random_uuid(), 'orders', '7', 'placed', '{\"a\":1}'::jsonb)");
      statement.execute(
          "select fencepost.publish(exchange => 'o', routing_key => 'r', type => 't',"
              + " payload => '{\"id\":7}', key => 'order-7', headers => '{}', event_id => null,"
              + " deliver_at => null)");
      for (String forbidden :
          List.of(
              "insert into fencepost.outbox (type, payload, tx) values ('t', '', 1)",
              "insert into fencepost.outbox (type, payload, slot) values ('t', '', 1)",
              "insert into fencepost.outbox (type, payload, created_at) values ('t', '', now())",
              "insert into fencepost.outbox_0 (type, payload) values ('t', '')",
              "select * from fencepost.outbox",
              "update fencepost.outbox set type = 'x'",
              "delete from fencepost.outbox",
              "truncate fencepost.outbox",
              "select nextval('fencepost.outbox_seq')",
              "select setval('fencepost.relay_rung', 1)",
              "insert into fencepost.scheduled (due_at) values (now())",
              "select * from fencepost.parked_rows",
              "update fencepost.relay_leases set fence = 99",
              "create table fencepost.mine (a int)")) {
        assertThatThrownBy(() -> statement.execute(forbidden))
            .as(forbidden)
            .isInstanceOfSatisfying(
                SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"));
      }
    }
    assertThat(
            owner.strings(
                "select exchange || '/' || routing_key || '/' || key || '/'"
                    + " || convert_from(payload, 'UTF8') from fencepost.outbox"
                    + " where exchange <> '' order by seq"))
        .containsExactly("orders/placed/7/{\"a\": 1}", "o/r/order-7/{\"id\": 7}");
  }
}
