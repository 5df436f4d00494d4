package dev.fencepost.pg;

import static dev.fencepost.testing.Await.failure;
import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import io.vertx.sqlclient.Tuple;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What PostgreSQL adds to the contract: locks, durability, plans, transactions, many at once. */
class PgActivityStoreLimitsIT {
  private static final String ME = "host-1-aaaa";
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration HARD = Duration.ofSeconds(20);

  private static WorkerSchema schema;

  private final String consumer = "c" + System.nanoTime();
  private int events;

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  // ---- many at once

  @Test
  void whoeverClaimsAtTheSameTimeOneStarts() {
    List<Claim.Request> all = requests(200, ActivityKind.IDEMPOTENT, null);
    Map<ActivityId, AtomicInteger> starts = new ConcurrentHashMap<>();
    List<Future<?>> claims = new ArrayList<>();
    for (int process = 0; process < 8; process++) {
      String owner = "process-" + process;
      List<Claim.Request> mine = new ArrayList<>(all);
      Collections.shuffle(mine, new Random(process));
      for (int from = 0; from < mine.size(); from += 50) {
        claims.add(
            schema
                .store()
                .claim(owner, mine.subList(from, from + 50))
                .onSuccess(answers -> count(answers, starts)));
      }
    }
    result(Future.all(claims), Duration.ofSeconds(60));
    assertThat(starts).hasSize(200);
    assertThat(starts.values()).allSatisfy(n -> assertThat(n).hasValue(1));
  }

  private static void count(List<Claim.Answer> answers, Map<ActivityId, AtomicInteger> starts) {
    for (Claim.Answer answer : answers) {
      if (answer instanceof Claim.Started started) {
        starts.computeIfAbsent(started.ticket().id(), id -> new AtomicInteger()).incrementAndGet();
      }
    }
  }

  @Test
  void claimsAndEffectsOfTheSameEventsStartThemOnce() {
    List<Claim.Request> all = requests(100, ActivityKind.EFFECT, null);
    List<Claim.Request> backwards = new ArrayList<>(all);
    Collections.reverse(backwards);
    Future<ActivityStore.EffectGroup> effects = schema.store().beginEffects(ME, HARD, all);
    Future<Void> committed = effects.compose(g -> g.commit(receipts(g)));
    Future<List<Claim.Answer>> claimed = schema.store().claim("other", backwards);
    result(committed);
    long asEffects = started(result(effects).answers());
    long asClaims = started(result(claimed));
    assertThat(asEffects + asClaims).isEqualTo(100);
  }

  private static long started(List<Claim.Answer> answers) {
    return answers.stream().filter(Claim.Started.class::isInstance).count();
  }

  private static List<Receipt> receipts(ActivityStore.EffectGroup group) {
    return Collections.nCopies((int) started(group.answers()), Receipt.succeeded());
  }

  // ---- locks

  @Test
  void aRowThatSomebodyLocksFailsItsGroupSoonAndChargesNobody() throws SQLException {
    Claim.Request taken = request();
    Claim.Request free = request();
    try (Connection other = PostgresServer.connect(schema.uri())) {
      other.setAutoCommit(false);
      insert(other, taken.id());
      long before = System.nanoTime();
      Throwable failure = failure(schema.store().claim(ME, List.of(taken, free)));
      assertThat(FencepostException.is(failure, FailureKind.DATABASE_CONFLICT)).isTrue();
      assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(8));
      assertThat(
              number("select count(*) from fencepost.activity where consumer = '" + consumer + "'"))
          .isZero();
      assertThat(started(result(schema.store().claim(ME, List.of(free))))).isEqualTo(1);
      other.rollback();
    }
    assertThat(started(result(schema.store().claim(ME, List.of(taken))))).isEqualTo(1);
  }

  @Test
  void aLockedLeaseIsSkippedByRenewalsWhichSay() throws SQLException {
    Claim.Ticket locked = start(request());
    Claim.Ticket free = start(request());
    try (Connection other = PostgresServer.connect(schema.uri())) {
      other.setAutoCommit(false);
      other
          .createStatement()
          .execute(
              "select 1 from fencepost.activity where event_id = '"
                  + locked.id().eventId()
                  + "' and consumer = '"
                  + consumer
                  + "' for update");
      assertThat(
              result(
                  schema
                      .store()
                      .renew(ME, TTL.multipliedBy(2), List.of(renewal(locked), renewal(free)))))
          .containsExactly(ActivityStore.Renewed.SKIPPED, ActivityStore.Renewed.STORED);
      other.rollback();
    }
    assertThat(
            number(
                "select count(*) from fencepost.activities where consumer = '"
                    + consumer
                    + "' and lease_until > now() + interval '40 seconds'"))
        .isEqualTo(1);
  }

  private static ActivityStore.Renewal renewal(Claim.Ticket ticket) {
    return new ActivityStore.Renewal(ticket.id(), ticket.fence(), null, null);
  }

  private static void insert(Connection connection, ActivityId id) throws SQLException {
    connection
        .createStatement()
        .execute(
            "insert into fencepost.activity (consumer, event_id, state, waits) values ('"
                + id.consumer()
                + "', '"
                + id.eventId()
                + "', 'unresolved', 'unresolved')");
  }

  // ---- durability

  @Test
  void whatIsAcknowledgedIsDurableWhateverTheServersDefault() {
    PostgresServer.execute(
        schema.uri(), "alter database " + database() + " set synchronous_commit = off");
    try (WorkerSchema relaxed = schema.again("?pgbouncer=true")) {
      DurableWork work = new DurableWork(relaxed.database());
      String setting =
          result(
              work.transaction(
                  c ->
                      c.query("show synchronous_commit")
                          .execute()
                          .map(rows -> rows.iterator().next().getString(0))));
      assertThat(setting).isEqualTo("on");
      ActivityStore.EffectGroup group =
          result(relaxed.store().beginEffects(ME, HARD, List.of(request())));
      assertThat(setting(group, "synchronous_commit")).isEqualTo("on");
      result(group.rollback());
    } finally {
      PostgresServer.execute(
          schema.uri(), "alter database " + database() + " reset synchronous_commit");
    }
  }

  private static String database() {
    return schema.uri().substring(schema.uri().lastIndexOf('/') + 1);
  }

  private static String setting(ActivityStore.EffectGroup group, String name) {
    return result(
        group
            .connection()
            .query("show " + name)
            .execute()
            .map(rows -> rows.iterator().next().getString(0)));
  }

  // ---- effects

  @Test
  void aHandlerThatHidesAFailedStatementCommitsNothing() {
    Claim.Request request = request();
    ActivityStore.EffectGroup group =
        result(schema.store().beginEffects(ME, HARD, List.of(request)));
    result(
        group
            .connection()
            .query("select 1 / 0")
            .execute()
            .transform(hidden -> Future.succeededFuture()));
    Throwable failure = failure(group.commit(List.of(Receipt.succeeded())));
    assertThat(failure).isInstanceOf(FencepostException.class);
    assertThat(state(request.id())).isNull();
    assertThat(start(request).attempt()).isEqualTo(1);
  }

  /** A row that died with its group tells the same as one that was claimed, run and settled. */
  @Test
  void howAnEffectDiedShowsInNoColumn() {
    Claim.Request bad = requests(1, ActivityKind.EFFECT, "k").get(0);
    Claim.Request claimed = requests(1, ActivityKind.EFFECT, "l").get(0);
    ErrorInfo error = new ErrorInfo("Boom", "NUL \u0000 " + "x".repeat(20_000), "a cause");
    ActivityStore.EffectGroup group = result(schema.store().beginEffects(ME, HARD, List.of(bad)));
    result(group.fail(List.of(new ActivityStore.FailedEffect(bad.id(), error))));
    result(group.commit(List.of()));
    Settlement.Dead dead =
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, error);
    result(
        schema
            .store()
            .settle(ME, List.of(new Settlement(start(claimed), dead, claimed.envelope()))));
    for (String table : List.of("activity", "dead_letter", "attempt", "receipt", "audit")) {
      String rows = stored(table, claimed.id());
      assertThat(rows.isEmpty()).isEqualTo(!List.of("activity", "dead_letter").contains(table));
      assertThat(stored(table, bad.id())).as(table).isEqualTo(rows);
    }
  }

  /** All columns but times, numbers by which rows are told apart, and the lease that is over. */
  private static String stored(String table, ActivityId id) {
    return text(
        schema.uri(),
        "select coalesce(string_agg((to_jsonb(t) - '{id,event_id,ordering_key,arrival,lease_until,"
            + "first_seen_at,finished_at,started_at,ended_at,dead_at,copy_due,properties,body}'::text[])"
            + "::text, ''), '') from fencepost."
            + table
            + " t where consumer = '"
            + id.consumer()
            + "' and event_id = '"
            + id.eventId()
            + "'");
  }

  @Test
  void aDeadHostHoldsNoLockForLong() {
    ActivityStore.EffectGroup group =
        result(schema.store().beginEffects(ME, HARD, List.of(request())));
    assertThat(setting(group, "statement_timeout")).isEqualTo("25s");
    assertThat(setting(group, "idle_in_transaction_session_timeout")).isEqualTo("25s");
    assertThat(setting(group, "lock_timeout")).as("the handler's own").isEqualTo("0");
    assertThat(setting(group, "enable_seqscan")).as("the handler's own").isEqualTo("on");
    result(group.rollback());
  }

  @Test
  void anAbandonedEffectIsCancelledAndRolledBack() {
    Claim.Request request = request();
    ActivityStore.EffectGroup group =
        result(schema.store().beginEffects(ME, HARD, List.of(request)));
    Future<?> sleeps = group.connection().query("select pg_sleep(60)").execute();
    result(group.abandon());
    assertThat(failure(sleeps)).isNotNull();
    assertThat(start(request).attempt()).as("its row is free at once").isEqualTo(1);
  }

  @Test
  void theEffectAndItsReceiptAreOne() {
    PostgresServer.execute(schema.uri(), "create table if not exists effects (event_id text)");
    for (boolean commits : List.of(false, true)) {
      Claim.Request request = request();
      ActivityStore.EffectGroup group =
          result(schema.store().beginEffects(ME, HARD, List.of(request)));
      result(
          group
              .connection()
              .preparedQuery("insert into effects values ($1)")
              .execute(Tuple.of(consumer + request.id().eventId())));
      result(commits ? group.commit(List.of(Receipt.succeeded("ref"))) : group.rollback());
      long effects =
          number(
              "select count(*) from effects where event_id = '"
                  + consumer
                  + request.id().eventId()
                  + "'");
      long receipts =
          number(
              "select count(*) from fencepost.receipts where consumer = '"
                  + consumer
                  + "' and event_id = '"
                  + request.id().eventId()
                  + "' and body = 'ref'");
      assertThat(List.of(effects, receipts)).containsOnly(commits ? 1L : 0L);
    }
  }

  // ---- order by key

  @Test
  void anEventThatMissedItsReleaseIsFoundByTheSweep() {
    Claim.Request first = requests(1, ActivityKind.IDEMPOTENT, "k").get(0);
    Claim.Request second = requests(1, ActivityKind.IDEMPOTENT, "k").get(0);
    start(first);
    assertThat(result(schema.store().claim(ME, List.of(second))).get(0))
        .isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    PostgresServer.execute(
        schema.uri(),
        "update fencepost.activity set state = 'completed', live_key = null,"
            + " finished_at = now() where consumer = '"
            + consumer
            + "' and state = 'running'");
    assertThat(due()).isEmpty();
    result(schema.store().expired(consumer, null, 10));
    assertThat(due()).extracting(d -> d.ticket().id()).containsExactly(second.id());
  }

  private List<Claim.Due> due() {
    return result(
        schema
            .store()
            .claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(request().work(), 10))));
  }

  // ---- costs

  @Test
  void aPlainSuccessIsOneInsertAndOneUpdateInPlace() {
    String uri;
    try (WorkerSchema own = WorkerSchema.open()) { // a session tells what it did when it ends
      uri = own.uri();
      succeed(own.store(), requests(500, ActivityKind.IDEMPOTENT, null));
    }
    Await.asserted(
        "the statistics tell of 500 updates in place",
        Duration.ofSeconds(30),
        () -> {
          assertThat(number(uri, stats("n_tup_ins"))).isEqualTo(500);
          assertThat(number(uri, stats("n_tup_upd"))).isEqualTo(500);
          assertThat(number(uri, stats("n_tup_hot_upd"))).isGreaterThan(400);
        });
  }

  private static void succeed(ActivityStore store, List<Claim.Request> group) {
    List<Settlement> settlements = new ArrayList<>();
    for (Claim.Answer answer : result(store.claim(ME, group))) {
      settlements.add(
          new Settlement(
              ((Claim.Started) answer).ticket(),
              new Settlement.Completed(Receipt.succeeded()),
              null));
    }
    assertThat(result(store.settle(ME, settlements))).containsOnly(true);
  }

  private static String stats(String column) {
    return "select "
        + column
        + " from pg_stat_user_tables where relid = 'fencepost.activity'::regclass";
  }

  @Test
  void aFinishedGroupLeavesNothingToSweep() {
    for (int round = 0; round < 2; round++) {
      succeed(schema.store(), requests(20, ActivityKind.IDEMPOTENT, null));
    }
    String batches =
        "select count(*) from fencepost.claim_batch where consumer = '" + consumer + "'";
    assertThat(number(batches)).as("the last one goes with the next settlement").isEqualTo(1);
    schema.elapse(consumer, TTL);
    result(schema.store().expired(consumer, null, 10));
    assertThat(number(batches)).isZero();
  }

  @Test
  void whatIsLookedForIsFoundByAnIndexEvenWithoutStatistics() throws SQLException {
    PostgresServer.execute(
        schema.uri(),
        "insert into fencepost.activity (consumer, event_id, type, kind, state, batch, finished_at)"
            + " select '"
            + consumer
            + "', 'e' || i, 't', 'idempotent', 'completed', i, now()"
            + " from generate_series(1, 20000) i");
    String[][] statements = {
      {
        SettleSql.COMPLETE,
        "'o', array['c'], array[1], array['c'], array['e'], array[1], array['b']"
      },
      {SettleSql.COMPLETE_BATCHES, "'o', array['c'], array[1], array['c'], array[1]"},
      {RecoverySql.EXPIRED, "'" + consumer + "', null, null, 10"},
      {RecoverySql.TIDY_BATCHES, "'" + consumer + "'"},
      {RecoverySql.STRANDED, "'" + consumer + "'"},
      {UpkeepSql.PURGE, "'" + consumer + "', 604800000, 100"},
      {UpkeepSql.OPEN_REVIEWS, "'" + consumer + "'"},
      {UpkeepSql.RESOLVE, "'" + consumer + "', array['t'], 100"},
      {SettleSql.RELEASE, "array['c'], array['k']"},
    };
    for (String[] statement : statements) {
      String plan = plan(statement[0], statement[1]);
      assertThat(plan).as(plan).doesNotContain("Seq Scan on activity");
    }
    for (String first : List.of("null", "true")) {
      String due =
          plan(
              ClaimSql.DUE,
              "'me', 'c', array['t'], array['pure'], array[1], array[1], array[1], false, 1, array[1],"
                  + " array[1000], 1, array["
                  + first
                  + "]::boolean[]");
      assertThat(due).as(due).contains("activity_due").doesNotContain("activity_next");
    }
    String pulse = plan(PulseSql.DUE, "1000") + plan(PulseSql.STANDING, "");
    assertThat(pulse)
        .as(pulse)
        .contains("activity_next", "activity_waits")
        .doesNotContain("Seq Scan on activity");
  }

  /** Under the settings of each transaction, with a plan for any values. */
  private static String plan(String sql, String values) throws SQLException {
    try (Connection connection = PostgresServer.connect(schema.uri());
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(DurableWork.SETTINGS);
      statement.execute("prepare looked as " + schema.database().sql(sql));
      return Explained.plan(
          statement, "execute looked" + (values.isEmpty() ? "" : "(" + values + ")"));
    }
  }

  @Test
  void aPurgeWorksThroughManyInPages() {
    PostgresServer.execute(
        schema.uri(),
        "insert into fencepost.activity (consumer, event_id, type, kind, state, batch, finished_at)"
            + " select '"
            + consumer
            + "', 'e' || i, 't', 'idempotent', 'completed', i,"
            + " now() - interval '8 days' from generate_series(1, 250) i");
    assertThat(result(schema.store().purge(consumer, Duration.ofDays(7), 100))).isEqualTo(100);
    assertThat(result(schema.store().purge(consumer, Duration.ofDays(7), 100))).isEqualTo(100);
    assertThat(result(schema.store().purge(consumer, Duration.ofDays(7), 100))).isEqualTo(50);
  }

  @Test
  void theHistoryExplainsEveryStart() {
    Claim.Ticket first = start(request());
    ErrorInfo error = new ErrorInfo("E", "no", null);
    result(
        schema
            .store()
            .settle(
                ME,
                List.of(
                    new Settlement(
                        first,
                        new Settlement.RunAgain(
                            AttemptOutcome.TRANSIENT_FAILURE, Duration.ZERO, true, error),
                        message()))));
    Claim.Ticket second = due().get(0).ticket();
    result(
        schema
            .store()
            .settle(
                ME,
                List.of(
                    new Settlement(
                        second, new Settlement.Completed(Receipt.succeeded("r")), null))));
    assertThat(
            number(
                "select count(*) from fencepost.attempts where consumer = '"
                    + consumer
                    + "' and worker = '"
                    + ME
                    + "' and started_at <= ended_at and outcome is not null"))
        .isEqualTo(2);
    assertThat(
            number("select attempts from fencepost.activities where consumer = '" + consumer + "'"))
        .isEqualTo(2);
    assertThat(
            number(
                "select count(*) from fencepost.activity where consumer = '"
                    + consumer
                    + "' and body is null and headers is null"))
        .as("a message that is done is not kept")
        .isEqualTo(1);
  }

  // ---- words of the tests

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }

  private Claim.Request request() {
    return requests(1, ActivityKind.IDEMPOTENT, null).get(0);
  }

  private List<Claim.Request> requests(int n, ActivityKind kind, String key) {
    Claim.Work work = new Claim.Work("t", kind, 4, 3, TTL);
    List<Claim.Request> requests = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      requests.add(
          new Claim.Request(
              new ActivityId(consumer, "event-" + ++events), work, key, false, message()));
    }
    return requests;
  }

  private Claim.Ticket start(Claim.Request request) {
    return ((Claim.Started) result(schema.store().claim(ME, List.of(request))).get(0)).ticket();
  }

  private String state(ActivityId id) {
    return text(
        schema.uri(),
        "select state from fencepost.activities where consumer = '"
            + id.consumer()
            + "' and event_id = '"
            + id.eventId()
            + "'");
  }

  private static long number(String sql) {
    return number(schema.uri(), sql);
  }

  private static long number(String uri, String sql) {
    return Long.parseLong(text(uri, sql));
  }

  private static String text(String uri, String sql) {
    try (Connection connection = PostgresServer.connect(uri);
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
