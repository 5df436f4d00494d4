package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PgDatabaseIT {

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(300);

  private Vertx vertx;
  private String uri;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
    uri = TestServers.postgres().newDatabase();
    PostgresServer.execute(uri, "create table t (n int primary key)");
  }

  @AfterEach
  void stop() {
    Await.result(vertx.close());
  }

  @Test
  void commitsWhatSucceedsAndRollsBackWhatFails() {
    PgDatabase database = open(1, uri);
    Await.result(database.inTransaction(LONG, c -> c.query("insert into t values (1)").execute()));
    IllegalStateException own = new IllegalStateException("the work's own");
    Throwable failure =
        Await.failure(
            database.inTransaction(
                LONG,
                c ->
                    c.query("insert into t values (2)")
                        .execute()
                        .compose(rows -> Future.failedFuture(own))));
    assertThat(failure).isSameAs(own);
    assertThat(count(database)).isEqualTo(1);
  }

  @Test
  void aTransactionThatHidAFailedStatementIsNotReportedAsCommitted() {
    PgDatabase database = open(1, uri);
    Throwable failure =
        Await.failure(
            database.inTransaction(
                LONG,
                c ->
                    c.query("insert into t values (1)")
                        .execute()
                        .compose(rows -> c.query("select no_such_column").execute())
                        .otherwiseEmpty()));
    assertThat(failure).satisfies(isOf(FailureKind.DATABASE_REFUSED));
    assertThat(count(database)).isZero();
  }

  @Test
  void aDeadlineGivesTheConnectionUp() {
    PgDatabase database = open(1, uri);
    Throwable failure =
        Await.failure(database.with(SHORT, c -> c.query("select pg_sleep(60)").execute()));
    assertThat(failure).satisfies(isOf(FailureKind.TIMEOUT));
    assertThat(count(database)).isZero();
  }

  @Test
  void aDeadlineRollsTheTransactionBack() {
    PgDatabase database = open(1, uri);
    Throwable failure =
        Await.failure(
            database.inTransaction(
                SHORT,
                c ->
                    c.query("insert into t values (1)")
                        .execute()
                        .compose(rows -> c.query("select pg_sleep(2)").execute())));
    assertThat(failure).satisfies(isOf(FailureKind.TIMEOUT));
    // The server lets go of the row once it notices; then nobody has written it.
    Await.result(database.inTransaction(LONG, c -> c.query("insert into t values (1)").execute()));
    assertThat(count(database)).isEqualTo(1);
  }

  /** An error thrown, or no future at all, gives the connection back at once, and rolls back. */
  @Test
  void workThatGoesWrongInAnyWayGivesTheConnectionBack() {
    PgDatabase database = open(1, uri);
    List<Function<SqlConnection, Future<Void>>> works =
        List.of(
            c -> {
              throw new IllegalStateException("an exception of the work's own");
            },
            c -> {
              throw new StackOverflowError("an error of the work's own");
            },
            c -> null);
    for (Function<SqlConnection, Future<Void>> work : works) {
      assertThat(Await.failure(database.with(LONG, work)))
          .isNotInstanceOf(FencepostException.class);
      assertThat(count(database)).isZero();
      assertThat(
              Await.failure(
                  database.inTransaction(
                      LONG,
                      c -> {
                        c.query("insert into t values (1)").execute();
                        return work.apply(c);
                      })))
          .isNotInstanceOf(FencepostException.class);
      assertThat(count(database)).isZero();
    }
    SqlConnection own = Await.result(database.dedicated("own"));
    for (Function<SqlConnection, Future<Void>> work : works) {
      assertThat(Await.failure(database.inTransactionOn(own, LONG, work)))
          .isNotInstanceOf(FencepostException.class);
      Await.result(database.on(own, LONG, c -> c.query("select 1").execute()));
    }
    Await.result(own.close());
    assertThat(
            Await.result(
                    database.with(
                        LONG,
                        c ->
                            c.query(
                                    "select count(*) from pg_stat_activity where datname ="
                                        + " current_database() and state like 'idle in%'")
                                .execute()))
                .iterator()
                .next()
                .getLong(0))
        .as("sessions left in a transaction")
        .isZero();
  }

  @Test
  void waitingForAConnectionCountsTowardsTheDeadline() {
    PgDatabase database = open(1, uri);
    Future<?> holder = database.with(LONG, c -> c.query("select pg_sleep(2)").execute());
    assertThat(Await.failure(database.with(SHORT, c -> c.query("select 1").execute())))
        .satisfies(isOf(FailureKind.TIMEOUT));
    Await.result(holder);
    assertThat(count(database)).isZero();
  }

  @Test
  void survivesAServerThatAcceptsAndNeverAnswers() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(uri)) {
      PgDatabase database = open(1, proxy.uri(uri) + "?connect_timeout=1");
      proxy.freeze();
      assertThat(Await.failure(database.with(LONG, c -> c.query("select 1").execute())))
          .satisfies(isOf(FailureKind.DATABASE_UNREACHABLE))
          .hasMessageContaining("127.0.0.1:" + proxy.port());
      proxy.thaw();
      assertThat(count(database)).isZero();
      proxy.freeze();
      assertThat(Await.failure(database.with(SHORT, c -> c.query("select 1").execute())))
          .satisfies(isOf(FailureKind.TIMEOUT));
      proxy.thaw();
      assertThat(count(database)).isZero();
      proxy.cut();
      Await.until("a new connection serves", () -> count(database) == 0);
    }
  }

  @Test
  void namesWhatIsWrongWithTheConnection() {
    String wrongPassword = PostgresServer.uriAs(uri, "postgres", "wrong");
    assertThat(Await.failure(open(1, wrongPassword).with(LONG, c -> c.begin())))
        .satisfies(isOf(FailureKind.DATABASE_AUTHENTICATION))
        .hasMessageContaining("password authentication failed");
    String noDatabase = TestServers.postgres().uri("no_such_database");
    assertThat(Await.failure(open(1, noDatabase).with(LONG, c -> c.begin())))
        .satisfies(isOf(FailureKind.DATABASE_AUTHENTICATION))
        .hasMessageContaining("no_such_database");
    assertThat(Await.failure(open(1, "postgresql://127.0.0.1:1/x").with(LONG, c -> c.begin())))
        .satisfies(isOf(FailureKind.DATABASE_UNREACHABLE))
        .hasMessageContaining("127.0.0.1:1/x");
  }

  @Test
  void findsTheWritableHostAndFollowsIt() {
    try (PostgresServer primary = PostgresServer.start()) {
      PostgresServer.execute(primary.uri(), "create table t (n int primary key)");
      PostgresServer replica = primary.startReplica();
      PgDatabase database = open(2, replica.uri(), primary.uri());
      Await.result(
          database.inTransaction(LONG, c -> c.query("insert into t values (1)").execute()));
      Await.until("the replica has it", () -> count(open(1, replica.uri())) == 1);
      primary.kill();
      replica.promote();
      Await.asserted(
          "writes go to the new primary",
          LONG,
          () ->
              Await.result(
                  database.inTransaction(
                      LONG,
                      c -> c.query("insert into t values (2) on conflict do nothing").execute())));
      assertThat(count(database)).isEqualTo(2);
    }
  }

  @Test
  void dropsReadOnlyConnections() {
    PgDatabase database = open(2, uri);
    String name = uri.substring(uri.lastIndexOf('/') + 1);
    PostgresServer.execute(
        uri, "alter database " + name + " set default_transaction_read_only = on");
    Future<?> one = database.with(LONG, c -> c.query("select pg_sleep(0.2)").execute());
    assertThat(
            Await.failure(database.with(LONG, c -> c.query("insert into t values (1)").execute())))
        .satisfies(isOf(FailureKind.DATABASE_READ_ONLY));
    Await.result(one);
    PostgresServer.execute(TestServers.postgres().uri(), "alter database " + name + " reset all");
    // Both connections were opened read-only: neither may serve again.
    for (int n = 1; n <= 2; n++) {
      int value = n;
      Await.result(
          database.with(LONG, c -> c.query("insert into t values (" + value + ")").execute()));
    }
    assertThat(count(database)).isEqualTo(2);
  }

  /** One that only reads would never hear of a failover. */
  @Test
  void whatOneOfThePoolsLearnsBothKnow() {
    PgDatabase database = open(1, uri);
    PgDatabase reading = database.byIndex();
    long before = backend(reading);
    assertThat(backend(reading)).isEqualTo(before);
    String name = uri.substring(uri.lastIndexOf('/') + 1);
    PostgresServer.execute(
        uri, "alter database " + name + " set default_transaction_read_only = on");
    assertThat(
            Await.failure(database.with(LONG, c -> c.query("insert into t values (1)").execute())))
        .satisfies(isOf(FailureKind.DATABASE_READ_ONLY));
    assertThat(backend(reading)).isNotEqualTo(before);
    PostgresServer.execute(TestServers.postgres().uri(), "alter database " + name + " reset all");
  }

  @Test
  void readsByIndexBehindAPoolerToo() {
    for (String parameters : List.of("", "?pgbouncer=true")) {
      PgDatabase database = open(1, uri + parameters);
      assertThat(setting(database, "enable_seqscan")).isEqualTo("on");
      assertThat(setting(database.byIndex(), "enable_seqscan")).isEqualTo("off");
      assertThat(setting(database.byIndex(), "enable_bitmapscan")).isEqualTo("off");
      assertThat(setting(database.byIndex(), "jit")).isEqualTo("off");
    }
  }

  /** A plan that a migration made wrong fails each session once; none of them keeps it. */
  @Test
  void forgetsPlansOfTablesThatHaveChanged() {
    PgDatabase database = open(1, uri);
    for (PgDatabase each : List.of(database, database.byIndex())) {
      Await.result(each.with(LONG, c -> c.preparedQuery("select * from t").execute()));
    }
    PostgresServer.execute(uri, "alter table t add column more text");
    assertThat(
            Await.failure(database.with(LONG, c -> c.preparedQuery("select * from t").execute())))
        .satisfies(isOf(FailureKind.DATABASE_CONFLICT));
    for (PgDatabase each : List.of(database, database.byIndex())) {
      Await.result(each.with(LONG, c -> c.preparedQuery("select * from t").execute()));
    }
  }

  private static long backend(PgDatabase database) {
    return Await.result(
        database.with(
            LONG,
            c ->
                c.query("select pg_backend_pid()")
                    .execute()
                    .map(rows -> rows.iterator().next().getLong(0))));
  }

  private static String setting(PgDatabase database, String name) {
    return Await.result(
        database.with(
            LONG,
            c ->
                c.query("show " + name)
                    .execute()
                    .map(rows -> rows.iterator().next().getString(0))));
  }

  @Test
  void dedicatedConnectionsAreOutsideThePool() {
    PgDatabase database = open(1, uri);
    var own = Await.result(database.dedicated("renewals"));
    Future<?> holder = database.with(LONG, c -> c.query("select pg_sleep(1)").execute());
    var rows =
        Await.result(
            database.on(
                own, LONG, c -> c.query("select current_setting('application_name')").execute()));
    assertThat(rows.iterator().next().getString(0)).isEqualTo("test renewals");
    assertThat(holder.isComplete()).isFalse();
    Await.result(holder);
    Await.result(own.close());
  }

  @Test
  void keepsAStatementCacheOrNot() {
    for (String parameters : List.of("", "?pgbouncer=true")) {
      PgDatabase database = open(1, uri + parameters);
      for (int i = 0; i < 3; i++) {
        Await.result(database.with(LONG, c -> c.preparedQuery("select 1").execute()));
      }
      long kept =
          Await.result(
              database.with(
                  LONG,
                  c ->
                      c.query("select count(*) from pg_prepared_statements where name <> ''")
                          .execute()
                          .map(rows -> rows.iterator().next().getLong(0))));
      assertThat(kept).isEqualTo(parameters.isEmpty() ? 1 : 0);
    }
  }

  private long count(PgDatabase database) {
    return Await.result(
        database.with(
            LONG,
            c ->
                c.query("select count(*) from t")
                    .execute()
                    .map(rows -> rows.iterator().next().getLong(0))));
  }

  private PgDatabase open(int size, String... uris) {
    return PgDatabase.open(
        vertx, new FencepostConfig.Database(List.of(uris), "fencepost", size), "test");
  }

  private static java.util.function.Consumer<Throwable> isOf(FailureKind kind) {
    return failure ->
        assertThat(failure)
            .isInstanceOfSatisfying(
                FencepostException.class, e -> assertThat(e.kind()).isEqualTo(kind));
  }
}
