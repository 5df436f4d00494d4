package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fencepost.api.Receipt;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PgBouncer;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Everything through pgbouncer in transaction mode; what cannot work through it is refused. */
class PgBouncerIT {
  private static final int EVENTS = 300;

  private final Vertx vertx = Vertx.vertx();
  private String direct;
  private PgBouncer pooler;

  @BeforeEach
  void migrate() {
    assumeTrue(PgBouncer.installed(), "pgbouncer is not installed");
    direct = TestServers.postgres().newDatabase();
    new Schema(config(direct)).migrate(null);
  }

  @AfterEach
  void close() {
    if (pooler != null) {
      pooler.close();
    }
    Await.result(vertx.close());
  }

  /**
   * Fewer sessions than Fencepost has connections: they are shared from one statement to another.
   */
  private String pooled(Map<String, String> settings) throws IOException {
    pooler = PgBouncer.start(direct, settings);
    return pooler.uri(direct);
  }

  private static FencepostConfig config(String database) {
    return ConfigLoader.parse(
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        relay: {lanes: 4, poll: {min: 2ms, max: 100ms}, parked: {backoff: {base: 200ms, max: 1s}}}
        worker: {sweep-every: 200ms, shutdown-deadline: 5s}
        metrics: {jmx: false}
        queues:
          mail:
            queue: app.mail
            declare: {type: classic, bind: [{exchange: app, exchange-type: topic, routing-key: "#"}]}
            activities:
              mail: {kind: idempotent, handler: {class: x.Y}}
              audit:
                kind: effect
                handler: {sql: "insert into audit values (:event_id)"}
        """
            .formatted(database, TestServers.broker().newVhost()),
        Map.of());
  }

  private Service service(FencepostConfig config) {
    CodeHandlers handlers =
        new CodeHandlers()
            .register(
                "mail",
                "mail",
                new BoundHandler.Async(c -> Future.succeededFuture(Receipt.succeeded())));
    return new Service(
        vertx,
        config,
        new Parts(true, true, false),
        new Service.Wiring(handlers, Telemetry.of(config)));
  }

  private long count(String from) throws SQLException {
    try (Connection connection = PostgresServer.connect(direct);
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("select count(*) from " + from)) {
      found.next();
      return found.getLong(1);
    }
  }

  @Test
  void relayAndWorkerWorkThroughIt() throws Exception {
    String uri = pooled(Map.of("default_pool_size", "5"));
    PostgresServer.execute(
        direct,
        "create table audit (event_id text primary key)",
        "insert into fencepost.outbox (event_id, exchange, routing_key, type, key, payload)"
            + " select 'e-' || g, 'app', 'x', case when g % 2 = 0 then 'audit' else 'mail' end,"
            + " 'k' || g % 7, '{}'::bytea from generate_series(1, "
            + EVENTS
            + ") g",
        "select fencepost.publish(exchange => 'nowhere', routing_key => 'x', type => 'mail',"
            + " payload => '{}')");
    Service running = service(config(uri + "?pgbouncer=true"));
    Await.result(running.start(), Duration.ofSeconds(60));
    Await.asserted(
        "all is done",
        Duration.ofSeconds(90),
        () -> {
          assertThat(count("fencepost.activities where state = 'completed'")).isEqualTo(EVENTS);
          assertThat(count("audit")).isEqualTo(EVENTS / 2);
          assertThat(count("fencepost.parked")).isEqualTo(1);
        });
    // From an application that writes through it as well, to a relay that sleeps.
    PostgresServer.execute(
        pooler.uri(direct),
        "select fencepost.publish(exchange => 'app', routing_key => 'x', type => 'audit',"
            + " payload => '{}')");
    Await.asserted(
        "one more",
        Duration.ofSeconds(30),
        () -> assertThat(count("audit")).isEqualTo(EVENTS / 2 + 1));
    assertThat(
            count(
                "pg_stat_activity where application_name like 'fencepost%' and query ~* 'listen'"))
        .isZero();
    Await.result(running.stop());
  }

  @Test
  void withoutBeingToldItIsRefusedAndTheKeyIsNamed() throws Exception {
    refused(pooled(Map.of()));
    pooler.close();
    refused(
        pooled(
            Map.of(
                "ignore_startup_parameters",
                "jit,synchronous_commit,enable_seqscan,enable_bitmapscan,extra_float_digits,"
                    + "idle_in_transaction_session_timeout")));
  }

  /** As a process does that is frozen between two statements. */
  @Test
  void aTransactionThatStandsStillKeepsNothingLocked() throws Exception {
    PgDatabase database =
        PgDatabase.open(
            vertx, config(pooled(Map.of()) + "?pgbouncer=true").database(), "standing still");
    try {
      Future<Void> standing =
          database.inTransaction(
              Duration.ofMinutes(2),
              c ->
                  c.query("select 1 from fencepost.relay_leases for update")
                      .execute()
                      .compose(locked -> Promise.<Void>promise().future()));
      Await.until("it locks", () -> count("pg_locks where mode = 'RowShareLock'") > 0);
      Await.until(
          "it locks no more",
          Duration.ofSeconds(20),
          () -> count("pg_locks where mode = 'RowShareLock'") == 0);
      assertThat(standing.isComplete()).isFalse();
    } finally {
      Await.result(database.close());
    }
  }

  private void refused(String uri) {
    Throwable failure = Await.failure(service(config(uri)).start());
    assertThat(failure)
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.CONFIGURATION))
        .hasMessageContaining("?pgbouncer=true")
        .hasMessageContaining("database.uris");
  }

  @Test
  void migrateIsRefused() throws Exception {
    FencepostConfig through = config(pooled(Map.of()) + "?pgbouncer=true");
    Throwable failure = Await.failure(new dev.fencepost.pg.Migrations(vertx, through).migrate());
    assertThat(failure)
        .hasMessageContaining("pgbouncer=true")
        .hasMessageContaining("server itself");
  }
}
