package dev.fencepost.pg;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.Who;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the purge takes and what it leaves, whichever way an activity went: what explains a
 * decision, and what keeps an action from being done twice, stays, to the last column.
 */
class RetentionIT {
  private static final String ME = "host-1-aaaa";
  private static final ErrorInfo ERROR = new ErrorInfo("Boom", "it broke", null);
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration RETENTION = Duration.ofDays(7);
  private static final Who WHO = new Who("ann", "fixed it");

  private static WorkerSchema schema;

  private final String consumer = "c" + System.nanoTime();
  private final Set<String> goes = new TreeSet<>();
  private final Set<String> stays = new TreeSet<>();

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  private static ActivityStore store() {
    return schema.store();
  }

  private static Claim.Work work(ActivityKind kind) {
    return new Claim.Work("t", kind, 4, 3, TTL);
  }

  private Claim.Request request(String event, ActivityKind kind) {
    byte[] body = event.getBytes(StandardCharsets.UTF_8);
    Delivery.Envelope message =
        new Delivery.Envelope("x", "k", Map.of("message_id", event), Map.of(), body, null);
    return new Claim.Request(new ActivityId(consumer, event), work(kind), null, false, message);
  }

  private Claim.Ticket start(String event, ActivityKind kind) {
    return ((Claim.Started) result(store().claim(ME, List.of(request(event, kind)))).get(0))
        .ticket();
  }

  private void settle(Claim.Ticket ticket, Settlement.How how) {
    Delivery.Envelope message = request(ticket.id().eventId(), ticket.work().kind()).envelope();
    Settlement settlement = new Settlement(ticket, how, message);
    assertThat(result(store().settle(ME, List.of(settlement)))).containsExactly(true);
  }

  private void complete(Claim.Ticket ticket) {
    settle(ticket, new Settlement.Completed(Receipt.succeeded("ref")));
  }

  private Claim.Ticket due() {
    Map<String, ActivityStore.Slots> one =
        Map.of("t", new ActivityStore.Slots(work(ActivityKind.IDEMPOTENT), 1));
    return result(store().claimDue(ME, consumer, one)).get(0).ticket();
  }

  private Claim.Ticket suspect() {
    return result(store().claimSuspect(ME, consumer, Map.of("t", work(ActivityKind.IDEMPOTENT))))
        .ticket();
  }

  private Evidence expired(String event) {
    schema.elapse(consumer, TTL);
    return result(store().expired(consumer, null, 100)).stream()
        .filter(e -> e.id().eventId().equals(event))
        .findFirst()
        .orElseThrow();
  }

  private void plain() {
    for (ActivityKind kind : List.of(ActivityKind.PURE, ActivityKind.QUERYABLE)) {
      complete(start("plain " + kind, kind));
      goes.add("plain " + kind);
    }
    Claim.Request effect = request("effect", ActivityKind.EFFECT);
    result(
        result(store().beginEffects(ME, TTL, List.of(effect)))
            .commit(List.of(Receipt.succeeded("ref"))));
    goes.add("effect");
    Settlement.How retry =
        new Settlement.RunAgain(AttemptOutcome.TRANSIENT_FAILURE, Duration.ZERO, true, ERROR);
    settle(start("retried", ActivityKind.IDEMPOTENT), retry);
    complete(due());
    goes.add("retried");
    settle(start("interrupted", ActivityKind.IDEMPOTENT), new Settlement.Interrupted());
    complete(due());
    goes.add("interrupted");
    result(store().defer(List.of(request("deferred", ActivityKind.IDEMPOTENT))));
    complete(due());
    goes.add("deferred");
  }

  private void kept() {
    complete(start("irreversible", ActivityKind.IRREVERSIBLE));
    stays.add("irreversible");

    start("taken over", ActivityKind.IDEMPOTENT);
    Claim.Request message = request("taken over", ActivityKind.IDEMPOTENT);
    result(
        store()
            .recover(
                ME,
                expired("taken over"),
                RecoveryDecision.RETRY_SAME_ACTIVITY,
                message.envelope()));
    complete(suspect());
    stays.add("taken over");

    start("probed", ActivityKind.QUERYABLE);
    ActivityStore.Hold hold =
        result(store().holdForProbe(ME, expired("probed"), work(ActivityKind.QUERYABLE)));
    result(
        store()
            .settleProbed(
                ME,
                hold.ticket(),
                new ActivityStore.Probed(
                    RecoveryDecision.RECORD_COMPLETION,
                    Receipt.succeeded("found"),
                    "it is there",
                    Duration.ZERO),
                null));
    stays.add("probed");

    settle(
        start("dead", ActivityKind.IDEMPOTENT),
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    stays.add("dead");

    settle(
        start("redriven", ActivityKind.IDEMPOTENT),
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    result(new PgDeadLetterChanges(schema.database()).redrive(List.of(letter("redriven")), WHO));
    complete(due());
    stays.add("redriven");

    for (ReviewRequest.Decision decision : ReviewRequest.Decision.values()) {
      String event = "reviewed " + decision;
      settle(
          start(event, ActivityKind.IDEMPOTENT),
          new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
      result(
          new PgReviewStore(schema.database())
              .resolve(new ReviewRequest(consumer, event, decision, "ann", "asked", null)));
      if (decision == ReviewRequest.Decision.RETRY) {
        complete(due());
      }
      stays.add(event);
    }
    settle(
        start("in review", ActivityKind.IDEMPOTENT),
        new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    stays.add("in review");
    ActivityId poison = new ActivityId(consumer, "poison");
    result(store().poison(poison, null, request("poison", ActivityKind.PURE).envelope(), ERROR));
    stays.add("poison");
  }

  private void unfinished() {
    start("running", ActivityKind.IDEMPOTENT);
    stays.add("running");
    settle(
        start("scheduled", ActivityKind.IDEMPOTENT),
        new Settlement.RunAgain(
            AttemptOutcome.TRANSIENT_FAILURE, Duration.ofDays(30), true, ERROR));
    stays.add("scheduled");
    Claim.Request unknown = request("unresolved", ActivityKind.PURE);
    result(store().storeUnresolved(unknown.id(), "u", null, unknown.envelope()));
    stays.add("unresolved");
  }

  private long letter(String event) {
    return Long.parseLong(
        text(
            "select max(id)::text from fencepost.dead_letter where consumer = ? and event_id = ?",
            event));
  }

  private String text(String sql, String event) {
    try (Connection connection = PostgresServer.connect(schema.uri());
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, consumer);
      statement.setString(2, event);
      ResultSet row = statement.executeQuery();
      return row.next() ? row.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Everything that is stored of an activity, its history, receipts and audit log included. */
  private Map<String, String> all(Set<String> events) {
    Map<String, String> all = new TreeMap<>();
    for (String event : events) {
      StringBuilder rows = new StringBuilder();
      for (String table : List.of("activity", "attempt", "receipt", "dead_letter", "audit")) {
        rows.append(
            text(
                "select string_agg(t::text, E'\\n' order by t::text) from fencepost."
                    + table
                    + " t where consumer = ? and event_id = ?",
                event));
      }
      all.put(event, rows.toString());
    }
    return all;
  }

  @Test
  void onlyWhatWentPlainlyGoesAndTheRestStaysToTheLastColumn() {
    plain();
    kept();
    unfinished();
    assertThat(result(store().purge(consumer, RETENTION, 100))).as("too young").isZero();
    schema.elapse(consumer, Duration.ofDays(6));
    assertThat(result(store().purge(consumer, RETENTION, 100))).as("still too young").isZero();
    for (String event : goes) {
      Claim.Request again = request(event, ActivityKind.IDEMPOTENT);
      assertThat(result(store().claim(ME, List.of(again))).get(0))
          .as("a duplicate within the retention is known")
          .isInstanceOf(Claim.Duplicate.class);
    }
    schema.elapse(consumer, Duration.ofDays(365));
    Map<String, String> before = all(stays);

    assertThat(result(store().purge(consumer, RETENTION, 100))).isEqualTo(goes.size());

    assertThat(all(stays)).isEqualTo(before);
    for (String event : goes) {
      for (String table : List.of("activity", "attempt", "receipt")) {
        String count = "select count(*)::text from fencepost." + table;
        assertThat(text(count + " where consumer = ? and event_id = ?", event))
            .as("%s of %s", table, event)
            .isEqualTo("0");
      }
    }
    assertThat(result(store().purge(consumer, RETENTION, 100))).isZero();
  }

  @Test
  void theSameEventOfAnotherConsumerIsNotTouched() {
    complete(start("shared", ActivityKind.PURE));
    Claim.Request theirs = request("shared", ActivityKind.PURE);
    ActivityId id = new ActivityId(consumer + "-other", "shared");
    Claim.Request other = new Claim.Request(id, theirs.work(), null, false, theirs.envelope());
    Claim.Ticket ticket =
        ((Claim.Started) result(store().claim(ME, List.of(other))).get(0)).ticket();
    complete(ticket);
    schema.elapse(consumer, Duration.ofDays(8));
    schema.elapse(id.consumer(), Duration.ofDays(8));
    assertThat(result(store().purge(consumer, RETENTION, 100))).isEqualTo(1);
    assertThat(result(store().claim(ME, List.of(other))).get(0))
        .isInstanceOf(Claim.Duplicate.class);
  }
}
