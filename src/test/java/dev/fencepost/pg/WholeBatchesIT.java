package dev.fencepost.pg;

import static dev.fencepost.testing.Await.failure;
import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A batch that ends as a whole is completed by its number, and nothing but its own successes. */
class WholeBatchesIT {
  private static final String ME = "host-1-aaaa";
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String COMPLETED =
      "select count(*) from fencepost.activities a join fencepost.receipts r using (consumer,"
          + " event_id) join fencepost.attempts t using (consumer, event_id) where a.state ="
          + " 'completed' and r.outcome = 'succeeded' and r.fence = 1 and t.outcome = 'succeeded'"
          + " and t.worker = '"
          + ME
          + "' and a.finished_at is not null and t.ended_at is not null";

  private WorkerSchema schema;

  @BeforeEach
  void open() {
    schema = WorkerSchema.open();
  }

  @AfterEach
  void close() {
    schema.close();
  }

  @Test
  void noRowOfItIsLookedUpByItsKey() {
    List<Claim.Ticket> tickets = start(requests(300, ActivityKind.IDEMPOTENT, null));
    assertThat(settle(tickets)).hasSize(300).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(300);
    Await.until(
        "the server has counted",
        Duration.ofSeconds(30),
        () -> {
          result(schema.store().openReviews("c")); // an old one is told with the next statement
          return number(
                  "select n_tup_upd from pg_stat_user_tables"
                      + " where relid = 'fencepost.activity'::regclass")
              == 300;
        });
    assertThat(
            number(
                "select idx_scan from pg_stat_user_indexes"
                    + " where indexrelid = 'fencepost.activity_pkey'::regclass"))
        .isLessThan(10);
  }

  @Test
  void itEndsInPartsAsWell() {
    List<Claim.Ticket> tickets = start(requests(30, ActivityKind.PURE, null));
    assertThat(settle(tickets.subList(0, 10))).containsOnly(true);
    assertThat(number(COMPLETED)).as("the others still run").isEqualTo(10);
    assertThat(settle(tickets.subList(10, 30))).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(30);
    assertThat(settle(tickets.subList(0, 5))).as("said once more").containsOnly(true);
    assertThat(number("select count(*) from fencepost.audit_log")).isZero();
  }

  @Test
  void whatFailedInItIsNotCompletedWithIt() {
    List<Claim.Ticket> tickets = start(requests(10, ActivityKind.IDEMPOTENT, null));
    List<Settlement> settlements = new ArrayList<>(successes(tickets.subList(1, 10)));
    settlements.add(
        new Settlement(
            tickets.get(0),
            new Settlement.Completed(Receipt.failedPermanently("no such address")),
            message()));
    assertThat(result(schema.store().settle(ME, settlements))).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(9);
    assertThat(state(tickets.get(0))).isEqualTo("dead");
  }

  @Test
  void aReceiptThatWasRecordedBeforeIsStronger() {
    List<Claim.Ticket> tickets = start(requests(10, ActivityKind.IDEMPOTENT, null));
    result(schema.store().recordReceipt(ME, tickets.get(3), Receipt.failedPermanently("declined")));
    result(schema.store().recordReceipt(ME, tickets.get(4), Receipt.succeeded("accepted")));
    assertThat(settle(tickets)).containsOnly(true);
    assertThat(state(tickets.get(3))).isNotEqualTo("completed");
    assertThat(number(COMPLETED)).isEqualTo(9);
    assertThat(text("select body from fencepost.receipts where body = 'accepted'")).isNotNull();
  }

  @Test
  void whatWasTakenOverMeanwhileIsLateAndTheOthersAreNot() {
    List<Claim.Request> requests = requests(10, ActivityKind.IDEMPOTENT, null);
    List<Claim.Ticket> tickets = start(requests);
    PostgresServer.execute(
        schema.uri(),
        "update fencepost.activity set lease_until = now() where event_id = 'event-3'",
        "update fencepost.claim_batch set until = now()");
    Evidence expired = result(schema.store().expired("c", null, 10)).get(0);
    assertThat(
            result(
                schema
                    .store()
                    .recover("other", expired, RecoveryDecision.RETRY_SAME_ACTIVITY, message())))
        .isTrue();
    List<Boolean> ours = settle(tickets);
    for (int i = 0; i < tickets.size(); i++) {
      assertThat(ours.get(i))
          .as(tickets.get(i).id().eventId())
          .isEqualTo(!tickets.get(i).id().eventId().equals("event-3"));
    }
    assertThat(number(COMPLETED)).isEqualTo(9);
    assertThat(text("select state from fencepost.activities where event_id = 'event-3'"))
        .isEqualTo("retry_scheduled");
    assertThat(number("select count(*) from fencepost.audit_log where action = 'lease_lost'"))
        .isEqualTo(1);
  }

  @Test
  void aMessageThatWasKeptIsForgotten() {
    List<Claim.Request> requests = requests(5, ActivityKind.IDEMPOTENT, null);
    List<Claim.Ticket> tickets = start(requests);
    assertThat(result(schema.store().keepBody(requests.get(2).id(), message()))).isTrue();
    assertThat(settle(tickets)).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(5);
    assertThat(number("select count(*) from fencepost.activity where body is not null")).isZero();
  }

  /** What it does not know of its own batch it must not end: here a row that nobody started. */
  @Test
  void aRowTooManyIsLeftAlone() {
    List<Claim.Ticket> tickets = start(requests(5, ActivityKind.IDEMPOTENT, null));
    PostgresServer.execute(
        schema.uri(),
        "insert into fencepost.activity (consumer, event_id, type, kind, state, attempts, fence,"
            + " batch, owner, lease_until, attempt_fence, started_at) select consumer, 'stranger',"
            + " type, kind, state, attempts, fence, batch, owner, lease_until, attempt_fence,"
            + " started_at from fencepost.activity limit 1");
    Throwable refused = failure(schema.store().settle(ME, successes(tickets)));
    assertThat(FencepostException.is(refused, FailureKind.DATABASE_CONFLICT)).isTrue();
    assertThat(number(COMPLETED)).as("all or nothing").isZero();
    assertThat(settle(tickets)).as("sent again, by their keys").containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(5);
    assertThat(text("select state from fencepost.activities where event_id = 'stranger'"))
        .isEqualTo("running");
  }

  @Test
  void keysGoOnAndIrreversibleWorkIsKept() {
    Claim.Request first = requests(1, ActivityKind.IDEMPOTENT, "k").get(0);
    List<Claim.Ticket> tickets = start(List.of(first));
    Claim.Request second =
        new Claim.Request(new ActivityId("c", "next"), first.work(), "k", false, message());
    assertThat(result(schema.store().claim(ME, List.of(second))).get(0))
        .isInstanceOf(Claim.Waiting.class);
    assertThat(settle(tickets)).containsOnly(true);
    assertThat(text("select state from fencepost.activities where event_id = 'next'"))
        .isEqualTo("retry_scheduled");
    List<Claim.Ticket> calls = start(requests(3, ActivityKind.IRREVERSIBLE, null, 10));
    assertThat(settle(calls)).containsOnly(true);
    schema.elapse("c", Duration.ofDays(30));
    result(schema.store().purge("c", Duration.ofDays(7), 100));
    assertThat(
            number(
                "select count(*) from fencepost.activities"
                    + " where kind = 'irreversible' and state = 'completed'"))
        .isEqualTo(3);
  }

  @Test
  void typesOfOneGroupKeepWhatIsSaidOfThem() {
    Claim.Work one = new Claim.Work("one", ActivityKind.PURE, 4, 3, TTL);
    Claim.Work two = new Claim.Work("two", ActivityKind.QUERYABLE, 9, 8, TTL.multipliedBy(100));
    List<Claim.Request> group =
        IntStream.range(0, 20)
            .mapToObj(
                i ->
                    new Claim.Request(
                        new ActivityId("c" + i / 10, "e" + i),
                        i % 2 == 0 ? one : two,
                        null,
                        i == 7,
                        message()))
            .toList();
    List<Claim.Ticket> tickets = start(group);
    assertThat(
            text(
                "select string_agg(distinct consumer || ' ' || type || ' ' || kind || ' ' ||"
                    + " max_attempts || ' ' || max_retries || ' ' || (lease_until > now() +"
                    + " interval '1 minute') || ' ' || redeliveries, ', ') from"
                    + " fencepost.activities"))
        .isEqualTo(
            "c0 one pure 4 3 false 0, c0 two queryable 9 8 true 0, c0 two queryable 9 8 true 1,"
                + " c1 one pure 4 3 false 0, c1 two queryable 9 8 true 0");
    assertThat(settle(tickets)).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(20);
  }

  // ---- words of the tests

  private List<Claim.Ticket> start(List<Claim.Request> requests) {
    return result(schema.store().claim(ME, requests)).stream()
        .map(answer -> ((Claim.Started) answer).ticket())
        .toList();
  }

  private List<Boolean> settle(List<Claim.Ticket> tickets) {
    return result(schema.store().settle(ME, successes(tickets)));
  }

  private static List<Settlement> successes(List<Claim.Ticket> tickets) {
    return tickets.stream()
        .map(t -> new Settlement(t, new Settlement.Completed(Receipt.succeeded()), null))
        .toList();
  }

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }

  private static List<Claim.Request> requests(int n, ActivityKind kind, String key) {
    return requests(n, kind, key, 0);
  }

  private static List<Claim.Request> requests(int n, ActivityKind kind, String key, int from) {
    Claim.Work work = new Claim.Work("t", kind, 4, 3, TTL);
    return IntStream.range(from, from + n)
        .mapToObj(
            i -> new Claim.Request(new ActivityId("c", "event-" + i), work, key, false, message()))
        .toList();
  }

  private String state(Claim.Ticket ticket) {
    return text(
        "select state from fencepost.activities where event_id = '" + ticket.id().eventId() + "'");
  }

  private long number(String sql) {
    return Long.parseLong(text(sql));
  }

  private String text(String sql) {
    try (Connection connection = PostgresServer.connect(schema.uri());
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
