package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MigrationsIT {

  private static final String INSERT =
      "insert into fencepost.outbox (type, payload) values ('t', '')";

  private Vertx vertx;
  private String uri;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
    uri = TestServers.postgres().newDatabase();
  }

  @AfterEach
  void stop() {
    Await.result(vertx.close());
  }

  @Test
  void startsAtTheSameTimeAreSafe() {
    List<Future<Migrations.Applied>> starts =
        IntStream.range(0, 4).mapToObj(i -> migrations("fencepost").migrate()).toList();
    List<List<String>> applied =
        starts.stream()
            .map(start -> Await.result(start, Duration.ofSeconds(60)).applied())
            .toList();
    assertThat(applied).filteredOn(each -> !each.isEmpty()).hasSize(1);
    Await.result(migrations("fencepost").check());
  }

  @Test
  void dryRunPrintsWhatAPersonCouldRunThemselves() throws Exception {
    String sql = Await.result(migrations("odd \"schema").pending());
    assertThat(sql).contains("create schema \"odd \"\"schema\"").doesNotContain("${");
    assertThat(failureOf(migrations("odd \"schema").check()).kind())
        .isEqualTo(FailureKind.SCHEMA_MISSING);
    try (Connection connection = PostgresServer.connect(uri)) {
      connection.createStatement().execute(sql);
    }
  }

  @Test
  void nothingIsPendingAfterwards() {
    Await.result(migrations("fencepost").migrate());
    assertThat(Await.result(migrations("fencepost").pending())).isEmpty();
  }

  @Test
  void aMissingOrNewerSchemaSaysWhatToDo() {
    assertThat(failureOf(migrations("fencepost").check()))
        .hasMessageContaining("run `fencepost migrate -c FILE`")
        .extracting(FencepostException::kind)
        .isEqualTo(FailureKind.SCHEMA_MISSING);
    Await.result(migrations("fencepost").migrate());
    PostgresServer.execute(
        uri,
        "insert into fencepost.schema_history select 1000, '999', 'later', type, 'V999__later.sql',"
            + " checksum, installed_by, installed_on, execution_time, success"
            + " from fencepost.schema_history where version = '1'");
    assertThat(failureOf(migrations("fencepost").check()))
        .hasMessageContaining("newer than this program")
        .extracting(FencepostException::kind)
        .isEqualTo(FailureKind.SCHEMA_MISMATCH);
  }

  @Test
  void lanesAndRetentionMustBeThoseOfTheSchema() throws Exception {
    Await.result(migrations("fencepost").migrate());
    Migrations otherLanes = new Migrations(vertx, config(uri, "fencepost", 8, Duration.ofHours(1)));
    assertThat(failureOf(otherLanes.check()))
        .hasMessageContaining("relay.lanes is 8, but the schema was laid with 4")
        .extracting(FencepostException::kind)
        .isEqualTo(FailureKind.SCHEMA_MISMATCH);
    Migrations longer = new Migrations(vertx, config(uri, "fencepost", 4, Duration.ofHours(12)));
    assertThat(failureOf(longer.check()))
        .hasMessageContaining("relay.retention")
        .hasMessageContaining("fencepost migrate -c FILE");
    assertThat(Await.result(longer.migrate()).retained()).isTrue();
    assertThat(Await.result(longer.migrate()).retained()).isFalse();
    Await.result(longer.check());
    assertThat(failureOf(migrations("fencepost").check()).kind())
        .isEqualTo(FailureKind.SCHEMA_MISMATCH);
    try (Connection connection = PostgresServer.connect(uri);
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery(
                    "with written as (insert into fencepost.outbox (type, payload) values ('t', '')"
                        + " returning slot, created_at) select slot ="
                        + " (extract(epoch from created_at)::bigint / 7200) % 8 from written")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getBoolean(1)).isTrue();
    }
  }

  /** Who asks for the outbox behind an exclusive lock that is not to be had waits as long. */
  @Test
  void anotherRetentionLetsInsertsPassWhileATransactionIsOpen() throws Exception {
    Await.result(migrations("fencepost").migrate());
    Migrations longer = new Migrations(vertx, config(uri, "fencepost", 4, Duration.ofHours(12)));
    try (Connection open = PostgresServer.connect(uri);
        Connection other = PostgresServer.connect(uri)) {
      open.setAutoCommit(false);
      open.createStatement().execute(INSERT);
      Future<Migrations.Applied> migrating = longer.migrate();
      Await.until("migrate waits for its lock", () -> migrateWaits(other));

      other.createStatement().execute("set statement_timeout = '1s'");
      other.createStatement().execute(INSERT);

      assertThat(migrating.isComplete()).isFalse();
      open.commit();
      assertThat(Await.result(migrating).retained()).isTrue();
    }
    Await.result(longer.check());
  }

  @Test
  void aLockThatIsNotToBeHadIsGivenUpAndWhoHasItNamed() throws Exception {
    Await.result(migrations("fencepost").migrate());
    LockWaits once = new LockWaits(Duration.ZERO, Duration.ZERO);
    Migrations retention =
        new Migrations(vertx, config(uri, "fencepost", 4, Duration.ofHours(12)), once);
    Migrations lanes =
        new Migrations(vertx, config(uri, "fencepost", 8, Duration.ofHours(1)), once);
    try (Connection open = PostgresServer.connect(uri)) {
      open.setAutoCommit(false);
      open.createStatement().execute(INSERT);
      for (Future<?> refused : List.of(retention.migrate(), lanes.migrate(true))) {
        assertThat(failureOf(refused))
            .hasMessageContaining("\"fencepost\" could not be locked within 0 s")
            .hasMessageContaining("idle in transaction, since")
            .extracting(FencepostException::kind)
            .isEqualTo(FailureKind.DATABASE_CONFLICT);
      }
      Await.result(migrations("fencepost").check());
      open.rollback();

      // A migration of a table that workers write.
      PostgresServer.execute(uri, "delete from fencepost.schema_history where version = '7'");
      open.createStatement().execute("lock table fencepost.activity in access share mode");
      assertThat(failureOf(retention.migrate())).hasMessageContaining("idle in transaction, since");
    }
  }

  private static boolean migrateWaits(Connection connection) throws SQLException {
    try (ResultSet rows =
        connection
            .createStatement()
            .executeQuery(
                "select 1 from pg_stat_activity where application_name = 'fencepost migrate'"
                    + " and datname = current_database() and wait_event_type = 'Lock'")) {
      return rows.next();
    }
  }

  /** What a dry run prints does what the command does: a person may run it instead. */
  @Test
  void dryRunPrintsAnotherRetentionAndNumberOfLanes() throws Exception {
    Await.result(migrations("fencepost").migrate());
    Migrations changed = new Migrations(vertx, config(uri, "fencepost", 8, Duration.ofHours(12)));

    String sql = Await.result(changed.pending(true));
    assertThat(Await.result(changed.pending()))
        .contains("set slot_seconds = 7200")
        .doesNotContain("re-base");
    try (Connection connection = PostgresServer.connect(uri)) {
      connection.createStatement().execute(sql);
    }

    Await.result(changed.check());
    assertThat(Await.result(changed.pending(true))).isEmpty();
    Migrations.Applied left = Await.result(changed.migrate(true));
    assertThat(left.retained()).isFalse();
    assertThat(left.rebased()).isFalse();
  }

  @Test
  void dryRunPrintsWhatFollowsAMigration() {
    Await.result(migrations("fencepost").migrate());
    PostgresServer.execute(uri, "delete from fencepost.schema_history where version = '7'");

    String sql =
        Await.result(
            new Migrations(vertx, config(uri, "fencepost", 8, Duration.ofHours(12))).pending(true));

    assertThat(sql)
        .containsSubsequence(
            "-- V7__", "-- relay.retention", "slot_seconds = 7200", "-- re-base", "lanes = 8");
  }

  @Test
  void anApplicationRoleCanPublishAndNothingElse() throws Exception {
    Await.result(migrations("fencepost").migrate());
    String role = "app_" + uri.substring(uri.lastIndexOf('/') + 1);
    PostgresServer.execute(uri, "create role " + role + " login password 'secret'");
    Await.result(migrations("fencepost").grant(role));
    try (Connection connection =
        PostgresServer.connect(PostgresServer.uriAs(uri, role, "secret"))) {
      connection
          .createStatement()
          .execute("insert into fencepost.outbox (type, payload) values ('t', '{}')");
      try (ResultSet rows =
          connection
              .createStatement()
              .executeQuery(
                  "select fencepost.publish(exchange => 'orders', routing_key => 'k', type => 't',"
                      + " payload => '{}'::jsonb)")) {
        assertThat(rows.next()).isTrue();
      }
      for (String forbidden :
          List.of(
              "insert into fencepost.outbox (type, payload, tx) values ('t', '{}', 1)",
              "select * from fencepost.outbox",
              "delete from fencepost.outbox",
              "select * from fencepost.relay_checkpoints",
              "update fencepost.relay_leases set fence = 0")) {
        assertThat(sqlState(connection, forbidden)).as(forbidden).isEqualTo("42501");
      }
    }
  }

  @Test
  void wantsAReachableDatabaseAndAKnownPassword() {
    Migrations wrong =
        new Migrations(vertx, config(PostgresServer.uriAs(uri, "postgres", "x"), "f"));
    assertThat(failureOf(wrong.check()).kind()).isEqualTo(FailureKind.DATABASE_AUTHENTICATION);
    Migrations nowhere = new Migrations(vertx, config("postgresql://127.0.0.1:1/x", "f"));
    assertThat(failureOf(nowhere.check()).kind()).isEqualTo(FailureKind.DATABASE_UNREACHABLE);
  }

  private static String sqlState(Connection connection, String statement) {
    try {
      connection.createStatement().execute(statement);
      return "done";
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  private static FencepostException failureOf(Future<?> future) {
    return (FencepostException) Await.failure(future);
  }

  private Migrations migrations(String schema) {
    return new Migrations(vertx, config(uri, schema));
  }

  private static FencepostConfig config(String uri, String schema) {
    return config(uri, schema, 4, Duration.ofHours(1));
  }

  /** Of the rest only lanes and retention matter here. */
  private static FencepostConfig config(String uri, String schema, int lanes, Duration retention) {
    Duration second = Duration.ofSeconds(1);
    return new FencepostConfig(
        new FencepostConfig.Database(List.of(uri), schema, 2),
        new FencepostConfig.Broker(List.of("amqp://localhost"), null, second),
        new FencepostConfig.Relay(
            true,
            lanes,
            FencepostConfig.Relay.Ordering.KEY,
            new FencepostConfig.Relay.Paging(10, 10, 1000, second, second),
            new FencepostConfig.LeaseTimes(second, second),
            retention,
            new FencepostConfig.Relay.Limits(1000, second, second, second, 10)),
        new FencepostConfig.Worker(true, 1, second, second, second, second),
        Map.of(),
        new FencepostConfig.Operation(
            new FencepostConfig.Admin("127.0.0.1", 0, ""),
            new FencepostConfig.Metrics(true, false, false),
            false,
            FencepostConfig.LogFormat.TEXT));
  }
}
