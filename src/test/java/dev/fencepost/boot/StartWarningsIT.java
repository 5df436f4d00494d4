package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A database that may forget the start of what must not be repeated is named when a worker starts.
 */
@Timeout(180)
class StartWarningsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String REMEDY = "set synchronous_standby_names, for example to 'ANY 1 (*)'";

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  private static FencepostConfig config(String kind, String... uris) {
    return ConfigLoader.parse(
        """
        database: {uris: ["%s"]}
        queues:
          payments:
            queue: app.payments
            activities:
              card.charge: {kind: %s, handler: {class: x.Y}}
              mail: {kind: idempotent, handler: {class: x.Y}}
        """
            .formatted(String.join("\", \"", uris), kind),
        Map.of());
  }

  private List<String> warnings(String kind, String... uris) {
    FencepostConfig config = config(kind, uris);
    PgDatabase database = PgDatabase.open(vertx, config.database(), "test");
    List<String> warned = new ArrayList<>();
    Await.result(StartWarnings.durability(config, database, warned::add));
    Await.result(database.close());
    return warned;
  }

  private static boolean shows(String uri, String setting, String value) throws SQLException {
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("show " + setting)) {
      row.next();
      return row.getString(1).equals(value);
    }
  }

  private static void set(PostgresServer server, String setting, String value) {
    PostgresServer.execute(
        server.uri(),
        "alter system set " + setting + " = '" + value + "'",
        "select pg_reload_conf()");
    Await.until("it is " + value, DEADLINE, () -> shows(server.uri(), setting, value));
  }

  @Test
  void standbysThatNobodyWaitsForAreNamedWithTheRemedy() {
    try (PostgresServer server = PostgresServer.start()) {
      assertThat(warnings("irreversible", server.uri())).as("alone").isEmpty();
      assertThat(warnings("irreversible", server.uri(), server.uri()))
          .as("several hosts expect a failover")
          .singleElement()
          .asString()
          .contains(REMEDY);

      PostgresServer replica = server.startReplica();
      PostgresServer.execute(server.uri(), "create role plain login password 'p'");
      String plain = PostgresServer.uriAs(server.uri(), "plain", "p");
      for (String uri : List.of(server.uri(), plain)) {
        assertThat(warnings("irreversible", uri))
            .as("seen by any role")
            .singleElement()
            .asString()
            .contains("(payments/card.charge)", REMEDY);
      }
      assertThat(warnings("queryable", server.uri())).hasSize(1);
      assertThat(warnings("idempotent", server.uri())).as("may be repeated").isEmpty();

      set(server, "synchronous_standby_names", "ANY 1 (*)");
      assertThat(warnings("irreversible", server.uri())).as("mended").isEmpty();
      replica.close();
    }
  }

  @Test
  void aStandbyThatIsAwayIsKnownByItsSlot() {
    try (PostgresServer server = PostgresServer.start()) {
      PostgresServer.execute(
          server.uri(), "select pg_create_physical_replication_slot('standby_1')");
      assertThat(warnings("irreversible", server.uri())).hasSize(1);
    }
  }

  @Test
  void aServerThatDoesNotFlushIsNamed() {
    try (PostgresServer server = PostgresServer.start(Map.of("fsync", "off"))) {
      assertThat(warnings("irreversible", server.uri()))
          .singleElement()
          .asString()
          .contains("fsync = on");
    }
  }
}
