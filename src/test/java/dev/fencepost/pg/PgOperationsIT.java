package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ActivityState;
import dev.fencepost.operations.ActivityFilter;
import dev.fencepost.operations.ActivityHistory;
import dev.fencepost.operations.AuditFilter;
import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ParkedFilter;
import dev.fencepost.operations.Status;
import dev.fencepost.operations.TimeSpan;
import dev.fencepost.operations.ViewRow;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators read, over the schema itself. */
class PgOperationsIT {
  private static Vertx vertx;
  private static String uri;
  private static PgDatabase database;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    uri = TestServers.postgres().newDatabase();
    FencepostConfig config = ConfigLoader.parse("database: {uris: [\"" + uri + "\"]}", Map.of());
    Await.result(new Migrations(vertx, config).migrate());
    database = PgDatabase.open(vertx, config.database(), "test");
  }

  @AfterAll
  static void stop() {
    Await.result(database.close());
    Await.result(vertx.close());
  }

  @BeforeEach
  void clean() {
    PostgresServer.execute(
        uri,
        "truncate fencepost.activity, fencepost.attempt, fencepost.receipt, fencepost.dead_letter,"
            + " fencepost.claim_batch, fencepost.parked_rows");
  }

  private static final Set<String> WAITS = Set.of("blocked", "manual_review", "unresolved");

  private static void activity(String consumer, String eventId, String state, String more) {
    PostgresServer.execute(
        uri,
        "insert into fencepost.activity (consumer, event_id, type, kind, state, waits) values ('"
            + consumer
            + "', '"
            + eventId
            + "', 'order.placed', 'idempotent', '"
            + state
            + "', "
            + (WAITS.contains(state) ? "'" + state + "')" : "null)"),
        "update fencepost.activity set "
            + (more.isEmpty() ? "fence = 1" : more)
            + " where consumer = '"
            + consumer
            + "' and event_id = '"
            + eventId
            + "'");
  }

  private static void running(String consumer, String eventId, long batch) {
    activity(
        consumer,
        eventId,
        "running",
        "batch = " + batch + ", owner = 'w', lease_until = now() + interval '30s'");
    PostgresServer.execute(
        uri,
        "insert into fencepost.claim_batch values ('"
            + consumer
            + "', "
            + batch
            + ", 'w', now() + interval '30s') on conflict do nothing");
  }

  private static void deadLetter(String consumer, String eventId, String more) {
    PostgresServer.execute(
        uri,
        "insert into fencepost.dead_letter (consumer, event_id, generation, type, reason, attempts,"
            + " error_class, error_message, body, headers, dead_at, state) values ('"
            + consumer
            + "', '"
            + eventId
            + "', 1, 'order.placed', "
            + more
            + ")");
  }

  private static final String LETTER =
      "'retries_exhausted', 4, 'java.io.IOException', '100% of_it failed', '\\xff00', '{\"a\": 1}',"
          + " timestamptz '2025-03-31 12:00Z', ";

  @Test
  void statusCountsEachStateOfEachConsumer() {
    running("mail", "r1", 1);
    running("mail", "r2", 1);
    activity("mail", "done", "completed", "batch = 1");
    activity("mail", "due", "retry_scheduled", "next_attempt_at = now() - interval '1s'");
    activity("mail", "later", "retry_scheduled", "next_attempt_at = now() + interval '1h'");
    activity("mail", "rev", "manual_review", "");
    activity("forgotten", "blocked", "blocked", "");
    deadLetter("dead-only", "d1", LETTER + "'open'");
    deadLetter("dead-only", "d2", LETTER + "'redriven'");

    List<Status.QueueStatus> queues =
        Await.result(new PgStatusStore(database).queues(Set.of("mail", "idle")));

    assertThat(queues)
        .extracting(
            q ->
                String.join(
                    " ",
                    q.consumer(),
                    q.waiting().inFlight().toString(),
                    q.waiting().dueRetries().toString(),
                    q.waiting().scheduledRetries().toString(),
                    q.waiting().blocked().toString(),
                    q.ended().reviews().toString(),
                    q.ended().openDeadLetters().toString()))
        .containsExactly(
            "dead-only 0 0 0 0 0 1",
            "forgotten 0 0 0 1 0 0",
            "idle 0 0 0 0 0 0",
            "mail 2 1 1 0 1 0");
  }

  @Test
  void countsStopAtTheBound() {
    PostgresServer.execute(
        uri,
        "insert into fencepost.dead_letter (consumer, event_id, generation, reason, attempts)"
            + " select 'mail', g::text, 1, 'poison_message', 1 from generate_series(1, 10100) g");

    List<Status.QueueStatus> queues = Await.result(new PgStatusStore(database).queues(Set.of()));

    assertThat(queues.get(0).ended().openDeadLetters()).hasToString("10000+");
  }

  @Test
  void lanesAreThoseOfTheView() {
    List<ViewRow> lanes = Await.result(new PgStatusStore(database).lanes());

    assertThat(lanes).hasSize(8);
    assertThat(lanes.get(0).columns())
        .containsKeys(
            "lane",
            "owner",
            "lease_until",
            "fence",
            "position",
            "backlog",
            "oldest_unpublished_at",
            "lag_cause");
    assertThat(lanes.get(0).text("lag_cause")).isEqualTo("no_owner");
  }

  @Test
  void aLaneWithOneRowWaitingHasABacklog() {
    PostgresServer.execute(uri, "insert into fencepost.outbox (type, payload) values ('t', '')");
    assertThat(Await.result(new PgStatusStore(database).lanes()))
        .extracting(lane -> String.valueOf(lane.columns().get("backlog")))
        .containsOnlyOnce("1")
        .containsOnly("0", "1");
  }

  @ParameterizedTest
  @EnumSource(ActivityState.class)
  void eachStateIsListedByKey(ActivityState state) {
    for (int i = 1; i <= 5; i++) {
      String more =
          switch (state) {
            case RUNNING -> "batch = 7";
            case RETRY_SCHEDULED -> i == 1 ? "awaiting_message = true" : "next_attempt_at = now()";
            default -> "";
          };
      activity("mail", "e" + i, state.wire(), more);
      activity("bill", "e" + i, state == ActivityState.COMPLETED ? "dead" : "completed", "");
      if (state == ActivityState.RUNNING) {
        running("mail", "r" + i, 7);
      }
      if (state == ActivityState.DEAD) {
        deadLetter("mail", "e" + i, LETTER + "'open'");
        deadLetter("bill", "e" + i, LETTER + "'redriven'");
      }
    }
    PgHistoryStore store = new PgHistoryStore(database);
    List<String> seen = new ArrayList<>();
    Page.Request request = Page.Request.first(2);
    Page<ViewRow> page;
    do {
      page = Await.result(store.list(new ActivityFilter(null, null, state), request));
      page.items().forEach(row -> seen.add(row.text("consumer") + "/" + row.text("event_id")));
      request = new Page.Request(2, page.next());
    } while (page.next() != null);

    List<String> expected =
        new ArrayList<>(List.of("mail/e1", "mail/e2", "mail/e3", "mail/e4", "mail/e5"));
    if (state == ActivityState.RUNNING) {
      expected.addAll(List.of("mail/r1", "mail/r2", "mail/r3", "mail/r4", "mail/r5"));
    }
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void activitiesAreFilteredByConsumerAndType() {
    activity("mail", "e1", "completed", "type = 'other'");
    activity("mail", "e2", "completed", "");
    activity("bill", "e3", "completed", "");

    Page<ViewRow> page =
        Await.result(
            new PgHistoryStore(database)
                .list(new ActivityFilter("mail", "order.placed", null), Page.Request.first(10)));

    assertThat(page.items()).extracting(r -> r.text("event_id")).containsExactly("e2");
    assertThat(page.items().get(0).columns().keySet())
        .containsAll(
            List.of(
                "consumer",
                "event_id",
                "type",
                "kind",
                "state",
                "attempts",
                "retries",
                "redeliveries",
                "max_retries",
                "fence",
                "lease_owner",
                "lease_until",
                "next_attempt_at",
                "phase",
                "progress_seq",
                "progress_at",
                "awaiting_message",
                "first_seen_at",
                "finished_at",
                "generation"));
  }

  @Test
  void historyGathersEverythingOfAnEvent() {
    activity(
        "mail",
        "e1",
        "completed",
        "attempt_fence = 2, owner = 'w2', started_at = '2025-03-31 12:00:10Z', ended_at ="
            + " '2025-03-31 12:00:20Z', outcome = 'succeeded', receipt_outcome = 'succeeded',"
            + " receipt_fence = 2, receipt_at = '2025-03-31 12:00:20Z', first_seen_at ="
            + " '2025-03-31 12:00:00Z'");
    PostgresServer.execute(
        uri,
        "insert into fencepost.attempt (consumer, event_id, generation, fence, worker, started_at,"
            + " ended_at, outcome) values ('mail', 'e1', 1, 1, 'w1', '2025-03-31 12:00:01Z',"
            + " '2025-03-31 12:00:09Z', 'lease_lost')",
        "insert into fencepost.audit (at, actor, action, consumer, event_id, fence, evidence)"
            + " values ('2025-03-31 12:00:09Z', 'w2', 'retry_same_activity', 'mail', 'e1', 2, null)");

    ActivityHistory history = Await.result(new PgHistoryStore(database).history("mail", "e1"));

    assertThat(history.timeline())
        .extracting(ActivityHistory.Moment::what)
        .containsSubsequence(
            "first seen",
            "attempt started",
            "attempt lease_lost",
            "attempt started",
            "attempt succeeded");
    assertThat(history.receipts()).hasSize(1);
    assertThat(history.audit()).extracting(r -> r.text("actor")).contains("w2");
    assertThat(Await.result(new PgHistoryStore(database).history("mail", "none")).isEmpty())
        .isTrue();
  }

  @Test
  void theAuditLogIsReadBackwardsByEveryFilter() {
    String lines = "insert into fencepost.audit (at, actor, action, consumer, event_id) values ";
    PostgresServer.execute(
        uri,
        lines + "('2001-01-01 12:00:00.000001Z', 'anna', 'redrive', 'ledger', 'a1')",
        lines + "('2001-01-01 12:00:00.000001Z', 'anna', 'redrive', 'ledger', 'a2')",
        lines + "('2001-01-01 12:00:00.000002Z', 'anna', 'outbox_skip', null, 'a1')",
        lines + "('2001-01-01 12:00:00Z', 'berta', 'discard', 'ledger2', 'a1')");
    Instant noon = Instant.parse("2001-01-01T12:00:00Z");
    TimeSpan then = new TimeSpan(noon, noon.plusSeconds(1));

    assertThat(audited(null, null, null, null, then))
        .as("those written late in their order of time, those of one time in that of their writing")
        .containsExactly(
            "anna outbox_skip a1", "anna redrive a2", "anna redrive a1", "berta discard a1");
    assertThat(audited("ledger", null, null, null, then)).hasSize(2);
    assertThat(audited(null, "a1", null, null, then)).hasSize(3);
    assertThat(audited(null, null, "berta", null, then)).containsExactly("berta discard a1");
    assertThat(audited(null, null, null, "redrive", then))
        .containsExactly("anna redrive a2", "anna redrive a1");
    assertThat(audited(null, null, null, null, new TimeSpan(noon.minusSeconds(9), noon))).isEmpty();
    assertThat(audited(null, null, "anna", null, new TimeSpan(noon.plusNanos(2000), null)))
        .as("since is inclusive")
        .containsExactly("anna outbox_skip a1");
  }

  private static List<String> audited(
      String consumer, String event, String actor, String action, TimeSpan span) {
    AuditFilter filter =
        new AuditFilter(new AuditFilter.Event(consumer, event), actor, action, span);
    PgAuditStore store = new PgAuditStore(database);
    List<String> seen = new ArrayList<>();
    Page.Request request = Page.Request.first(1);
    Page<ViewRow> page;
    do {
      page = Await.result(store.list(filter, request));
      page.items()
          .forEach(
              row ->
                  seen.add(
                      row.text("actor") + " " + row.text("action") + " " + row.text("event_id")));
      request = new Page.Request(1, page.next());
    } while (page.next() != null);
    return seen;
  }

  @Test
  void aPageOfTheAuditLogIsFoundByIndexHoweverLongItIs() throws SQLException {
    PostgresServer.execute(
        uri,
        "insert into fencepost.audit (at, actor, action, consumer, event_id)"
            + " select timestamptz '2002-01-01Z' + g * interval '1s', 'worker-' || g % 7,"
            + " 'takeover', 'ledger', 'long-' || g from generate_series(1, 20000) g",
        "analyze fencepost.audit");

    for (String where :
        List.of(
            "",
            "where at >= '2002-01-01 05:00Z' and at < '2002-01-01 05:01Z'",
            "where actor = 'worker-3'",
            "where event_id = 'long-9'",
            "where (at, id) < ('2002-01-01 03:00Z', 5)")) {
      assertThat(plan(OperationsSql.AUDIT_LOG.replace("${where}", where) + 51))
          .as(where)
          .doesNotContain("Seq Scan", "Sort");
    }
  }

  @Test
  void deadLettersAreFoundByEveryFilter() {
    deadLetter("mail", "d1", LETTER + "'open'");
    deadLetter("mail", "d2", LETTER + "'discarded'");
    deadLetter(
        "bill", "d3", "'poison_message', 1, null, 'x', null, null, '2025-04-01 12:00Z', 'open'");
    DeadLetterFilter any = DeadLetterFilter.of(null, null, null, TimeSpan.ALWAYS);

    assertThat(found(any)).containsExactly("d3", "d2", "d1");
    assertThat(found(any.withState(DeadLetterFilter.State.OPEN))).containsExactly("d3", "d1");
    assertThat(found(any.withSearch("100% of_"))).containsExactly("d2", "d1");
    assertThat(found(any.withSearch("100_"))).as("no wildcards").isEmpty();
    assertThat(found(any.withSearch("IOEXCEPTION"))).containsExactly("d2", "d1");
    assertThat(found(DeadLetterFilter.of("bill", null, null, TimeSpan.ALWAYS)))
        .containsExactly("d3");
    assertThat(
            found(DeadLetterFilter.of(null, "order.placed", "retries_exhausted", TimeSpan.ALWAYS)))
        .containsExactly("d2", "d1");
    Instant noon = Instant.parse("2025-03-31T12:00:00Z");
    assertThat(
            found(DeadLetterFilter.of(null, null, null, new TimeSpan(noon, noon.plusSeconds(1)))))
        .containsExactly("d2", "d1");
    assertThat(found(DeadLetterFilter.of(null, null, null, new TimeSpan(null, noon)))).isEmpty();
  }

  private static List<String> found(DeadLetterFilter filter) {
    PgDeadLetterStore store = new PgDeadLetterStore(database);
    List<String> seen = new ArrayList<>();
    Page.Request request = Page.Request.first(1);
    Page<ViewRow> page;
    do {
      page = Await.result(store.list(filter, request));
      page.items().forEach(row -> seen.add(row.text("event_id")));
      request = new Page.Request(1, page.next());
    } while (page.next() != null);
    return seen;
  }

  @Test
  void deadLettersComeWithTheirBody() {
    deadLetter("mail", "d1", LETTER + "'open'");
    PgDeadLetterStore store = new PgDeadLetterStore(database);
    long id = Await.result(store.newestId());

    ViewRow row = Await.result(store.find(id));

    assertThat(row.toJson().getString("body_encoding")).isEqualTo("base64");
    assertThat(row.toJson().getJsonObject("headers").getInteger("a")).isEqualTo(1);
    assertThat(Await.result(store.byIds(List.of(id, id + 1)))).hasSize(1);
    assertThat(Await.result(store.find(id + 1))).isNull();
    DeadLetterFilter any = DeadLetterFilter.of(null, null, null, TimeSpan.ALWAYS);
    assertThat(Await.result(store.between(any, 0, id, 10))).hasSize(1);
    assertThat(Await.result(store.between(any, id, id, 10))).isEmpty();
  }

  @Test
  void parkedRowsAreFoundByKeyAndSeq() {
    for (int seq = 1; seq <= 3; seq++) {
      PostgresServer.execute(
          uri,
          "insert into fencepost.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type,"
              + " key, payload, content_type, headers, properties, created_at, reason) values ("
              + (seq == 3 ? "2, 3" : "1, " + seq)
              + ", 1, 'e', 'missing', 'r', 't', "
              + (seq == 3 ? "null" : "'k'")
              + ", '', 'text/plain', '{}', '{}', now(), 'exchange_missing')");
    }
    PgParkedStore store = new PgParkedStore(database);

    assertThat(Await.result(store.ofKey("k", 10)))
        .extracting(r -> r.number("seq"))
        .containsExactly(1L, 2L);
    assertThat(Await.result(store.ofSeq(3))).hasSize(1);
    assertThat(Await.result(store.ofSeq(4))).isEmpty();
    ParkedFilter missing = ParkedFilter.of(null, "missing", "exchange_missing");
    Page<ViewRow> first = Await.result(store.list(missing, Page.Request.first(2)));
    Page<ViewRow> second = Await.result(store.list(missing, new Page.Request(2, first.next())));
    assertThat(first.items()).extracting(r -> r.number("seq")).containsExactly(1L, 2L);
    assertThat(second.items()).extracting(r -> r.number("seq")).containsExactly(3L);
    assertThat(second.next()).isNull();
  }

  @Test
  void whatWaitsForPeopleIsFoundByIndexAmongManyThatDoNot() throws SQLException {
    PostgresServer.execute(
        uri,
        "insert into fencepost.activity (consumer, event_id, type, kind, state)"
            + " select 'mail', 'e' || g, 't', 'pure', 'completed' from generate_series(1, 20000) g",
        "insert into fencepost.activity (consumer, event_id, type, kind, state, waits)"
            + " values ('mail', 'x', 't', 'irreversible', 'manual_review', 'manual_review')",
        "analyze fencepost.activity, fencepost.claim_batch, fencepost.dead_letter");

    for (ActivityState state :
        List.of(
            ActivityState.MANUAL_REVIEW,
            ActivityState.RUNNING,
            ActivityState.RETRY_SCHEDULED,
            ActivityState.DEAD)) {
      String statement = OperationsSql.activities(state).replace("${where}", "") + 51;
      assertThat(plan(statement)).as(state.wire()).doesNotContain("Seq Scan on activity");
    }
    assertThat(plan(OperationsSql.COUNTS.replace("$1", "'{mail}'")))
        .doesNotContain("Seq Scan on activity");
  }

  private static String plan(String sql) throws SQLException {
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement()) {
      return Explained.plan(statement, database.sql(sql));
    }
  }

  @Test
  void statusTellsTheAgeOfTheOldestLeaseThatIsOver() {
    running("mail", "r1", 1);
    running("mail", "r2", 2);
    running("mail", "r3", 3);
    running("other", "r4", 1);
    PostgresServer.execute(
        uri,
        "update fencepost.activity set lease_until = now() - interval '90s' where event_id = 'r1'",
        "update fencepost.activity set lease_until = now() - interval '10s' where event_id = 'r2'",
        "update fencepost.activity set state = 'completed',"
            + " lease_until = now() - interval '1h' where event_id = 'r3'",
        "update fencepost.claim_batch set until = now() - interval '1h' where consumer = 'mail'");

    List<Status.QueueStatus> queues = Await.result(new PgStatusStore(database).queues(Set.of()));

    assertThat(queues.get(0).oldestExpiredLease())
        .isBetween(Duration.ofSeconds(90), Duration.ofSeconds(150));
    assertThat(queues.get(1).oldestExpiredLease()).isNull();
  }
}
