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
import dev.fencepost.operations.ActivityHistory;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.DeadLetterChanges;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewRequest.Decision;
import dev.fencepost.operations.ViewRow;
import dev.fencepost.operations.Who;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Settlement;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What people decide about activities: each once, by compare and set, with a line each. */
class PgOperatorIT {
  private static final String ME = "host-1-aaaa";
  private static final ErrorInfo ERROR = new ErrorInfo("Boom", "it broke", null);
  private static final Claim.Work WORK =
      new Claim.Work("t", ActivityKind.IRREVERSIBLE, 1, 0, Duration.ofSeconds(30));
  private static final Who WHO = new Who("ann", "fixed it");

  private static WorkerSchema schema;
  private static PgReviewStore reviews;
  private static PgDeadLetterChanges letters;

  private final String consumer = "c" + System.nanoTime();
  private int events;

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
    reviews = new PgReviewStore(schema.database());
    letters = new PgDeadLetterChanges(schema.database());
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  // ---- reviews

  @Test
  void succeededWritesAReceiptAndCompletes() {
    ActivityId id = inReview(null);
    var done = result(reviews.resolve(decision(id, Decision.SUCCEEDED, 2L)));
    assertThat(done.state()).isEqualTo(ActivityState.COMPLETED);
    ActivityHistory history = history(id);
    assertThat(history.receipts()).extracting(r -> r.text("outcome")).containsExactly("succeeded");
    assertThat(audit(history)).containsExactly("manual_review", "review_resolved");
    assertThat(history.audit().get(1).text("actor")).isEqualTo("ann");
    assertThat(history.audit().get(1).text("evidence")).isEqualTo("I asked the bank");
    assertThat(history.audit().get(1).number("fence")).isEqualTo(2);
  }

  @Test
  void failedWritesADeadLetterWithTheBody() {
    ActivityId id = inReview(null);
    result(reviews.resolve(decision(id, Decision.FAILED, null)));
    ViewRow letter = letters(id).get(0);
    assertThat(letter.text("reason")).isEqualTo("permanent_failure");
    assertThat(letter.text("error_message")).isEqualTo("I asked the bank");
    assertThat(history(id).activity().text("state")).isEqualTo("dead");
    assertThat(body(id)).isEqualTo("body of " + id.eventId());
  }

  @Test
  void retryGrantsOneStartEvenAtTheLimit() {
    ActivityId id = inReview(null);
    result(reviews.resolve(decision(id, Decision.RETRY, null)));
    Claim.Due due = due().get(0);
    assertThat(due.ticket().attempt()).isEqualTo(2);
    settle(
        due.ticket(),
        new Settlement.RunAgain(AttemptOutcome.TRANSIENT_FAILURE, Duration.ZERO, true, ERROR));
    assertThat(due()).as("one start, no more").isEmpty();
    assertThat(letters(id)).extracting(l -> l.text("reason")).containsExactly("retries_exhausted");
  }

  @Test
  void aReviewIsDecidedOnce() {
    ActivityId id = inReview(null);
    assertKind(decision(id, Decision.RETRY, 1L), FailureKind.STALE);
    result(reviews.resolve(decision(id, Decision.SUCCEEDED, 2L)));
    assertKind(decision(id, Decision.FAILED, 2L), FailureKind.STALE);
    assertKind(
        decision(new ActivityId(consumer, "none"), Decision.FAILED, null), FailureKind.NOT_FOUND);
    assertThat(audit(history(id))).containsExactly("manual_review", "review_resolved");
    assertThat(letters(id)).isEmpty();
  }

  @Test
  void aDecidedReviewLetsItsKeyGoOn() {
    ActivityId first = inReview("k");
    ActivityId second = new ActivityId(consumer, "later");
    assertThat(claim(second, "k")).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    result(reviews.resolve(decision(first, Decision.SUCCEEDED, null)));
    assertThat(due()).extracting(d -> d.ticket().id()).containsExactly(second);
  }

  @Test
  void aDeadLetterWithoutABodyTakesItWhenTheMessageComes() {
    ActivityId id = new ActivityId(consumer, "bodiless");
    Claim.Ticket ticket = start(id, null);
    result(
        schema
            .store()
            .settle(
                ME,
                List.of(
                    new Settlement(
                        ticket, new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR), null))));
    result(reviews.resolve(decision(id, Decision.FAILED, null)));
    long letter = letters(id).get(0).number("id");
    assertThat(result(letters.redrive(List.of(letter), WHO)).get(0).outcome())
        .isEqualTo(Outcome.FAILED);
    assertThat(claim(id, null)).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
    assertThat(body(id)).isEqualTo("body of bodiless");
    assertThat(result(letters.redrive(List.of(letter), WHO)).get(0).outcome())
        .isEqualTo(Outcome.REDRIVEN);
  }

  // ---- dead letters

  @Test
  void aRedriveIsANewGenerationWithAFreshBudget() {
    ActivityId id = dead();
    long letter = letters(id).get(0).number("id");
    assertThat(result(letters.redrive(List.of(letter), WHO)))
        .containsExactly(new DeadLetterChanges.Change(letter, Outcome.REDRIVEN, null));
    ViewRow activity = history(id).activity();
    assertThat(activity.text("state")).isEqualTo("retry_scheduled");
    assertThat(activity.number("generation")).isEqualTo(2);
    assertThat(activity.number("attempts")).isZero();
    Claim.Due due = due().get(0);
    assertThat(due.ticket().generation()).isEqualTo(2);
    assertThat(due.ticket().attempt()).isEqualTo(1);
    assertThat(due.ticket().fence()).isEqualTo(2);
    assertThat(new String(due.envelope().body(), StandardCharsets.UTF_8))
        .isEqualTo("body of " + id.eventId());
    settle(
        due.ticket(),
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    assertThat(letters(id))
        .extracting(l -> l.number("generation") + " " + l.text("state"))
        .containsExactly("1 redriven", "2 open");
    assertThat(history(id).attempts())
        .extracting(a -> a.number("generation"))
        .containsExactly(1L, 2L);
  }

  /** A process looks for what fell due lately: what waited longer behind its key is renewed. */
  @Test
  void whatIsRedrivenTogetherOfAKeyStartsAsSoonAsTheOneBeforeItHasEnded() {
    List<ActivityId> ids = List.of(dead("k"), dead("k"), dead("k"));
    PgActivityStore lately = new PgActivityStore(schema.database(), schema.database());
    assertThat(due(lately)).as("all that was due before has been seen").isEmpty();
    List<Long> dead = ids.stream().map(id -> letters(id).get(0).number("id")).toList();
    result(letters.redrive(dead, WHO));
    Await.until(
        "the redrive is noticed", () -> result(lately.mayBeDue(Set.of(consumer))).size() == 1);
    for (ActivityId id : ids) {
      List<Claim.Due> due = due(lately);
      assertThat(due).extracting(d -> d.ticket().id()).containsExactly(id);
      schema.elapse(consumer, Duration.ofSeconds(20));
      Settlement.How done = new Settlement.Completed(Receipt.succeeded());
      result(lately.settle(ME, List.of(new Settlement(due.get(0).ticket(), done, null))));
    }
  }

  @Test
  void aSecondClickChangesNothingAndSaysSo() {
    ActivityId id = dead();
    long letter = letters(id).get(0).number("id");
    result(letters.redrive(List.of(letter), WHO));
    assertThat(result(letters.redrive(List.of(letter), WHO)))
        .containsExactly(new DeadLetterChanges.Change(letter, Outcome.UNCHANGED, "is redriven"));
    assertThat(history(id).activity().number("generation")).isEqualTo(2);
    List<Claim.Due> due = due();
    assertThat(due).hasSize(1);
    assertThat(due()).isEmpty();
    settle(
        due.get(0).ticket(),
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    assertThat(result(letters.redrive(List.of(letter), WHO)))
        .as("it is about the first failure, not about the second")
        .containsExactly(new DeadLetterChanges.Change(letter, Outcome.UNCHANGED, "is redriven"));
    assertThat(history(id).activity().text("state")).isEqualTo("dead");
    assertThat(audit(history(id))).containsExactly("redrive");
  }

  @Test
  void aReceiptThatSaysFailedStaysWithItsGeneration() {
    ActivityId id = new ActivityId(consumer, "failed");
    settle(start(id, null), new Settlement.Completed(Receipt.failedPermanently("no")));
    result(letters.redrive(List.of(letters(id).get(0).number("id")), WHO));
    settle(due().get(0).ticket(), new Settlement.Completed(Receipt.succeeded("yes")));
    assertThat(history(id).receipts())
        .extracting(r -> r.number("generation") + " " + r.text("outcome"))
        .containsExactly("1 failed_permanent", "2 succeeded");
    assertThat(history(id).activity().text("state")).isEqualTo("completed");
  }

  @Test
  void eachItemHasItsOwnOutcome() {
    ActivityId open = dead();
    ActivityId gone = dead();
    long one = letters(open).get(0).number("id");
    long two = letters(gone).get(0).number("id");
    assertThat(result(letters.discard(List.of(two), WHO)).get(0).outcome())
        .isEqualTo(Outcome.DISCARDED);
    assertThat(result(letters.redrive(List.of(two, 999_999_999L, one), WHO)))
        .extracting(DeadLetterChanges.Change::outcome)
        .containsExactly(Outcome.UNCHANGED, Outcome.NOT_FOUND, Outcome.REDRIVEN);
    assertThat(result(letters.discard(List.of(two), WHO)).get(0).outcome())
        .isEqualTo(Outcome.UNCHANGED);
    assertThat(audit(history(gone))).containsExactly("discard");
    assertThat(history(gone).activity().text("state")).isEqualTo("dead");
  }

  @Test
  void oneThatIsLockedLeavesTheOthersAsTheyWouldBe() throws SQLException {
    ActivityId locked = dead();
    ActivityId free = dead();
    long one = letters(locked).get(0).number("id");
    long two = letters(free).get(0).number("id");
    try (Connection connection = PostgresServer.connect(schema.uri())) {
      connection.setAutoCommit(false);
      connection
          .createStatement()
          .execute("select 1 from fencepost.dead_letter where id = " + one + " for update");
      assertThat(result(letters.redrive(List.of(one, two), WHO)))
          .extracting(DeadLetterChanges.Change::outcome)
          .containsExactly(Outcome.FAILED, Outcome.REDRIVEN);
      connection.rollback();
    }
  }

  @Test
  void theAuditLogCannotBeChanged() {
    ActivityId id = inReview(null);
    for (String change :
        List.of(
            "delete from fencepost.audit",
            "update fencepost.audit set actor = 'x'",
            "truncate fencepost.audit")) {
      assertThat(refused(change)).as(change).isEqualTo("42501");
    }
    assertThat(audit(history(id))).hasSize(1);
  }

  private static String refused(String sql) {
    try (Connection connection = PostgresServer.connect(schema.uri())) {
      connection.createStatement().execute(sql);
      return "done";
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  // ---- words of the tests

  private Delivery.Envelope message(ActivityId id) {
    return new Delivery.Envelope(
        "x",
        "k",
        Map.of(),
        Map.of(),
        ("body of " + id.eventId()).getBytes(StandardCharsets.UTF_8),
        null);
  }

  private Claim.Answer claim(ActivityId id, String key) {
    return result(
            schema.store().claim(ME, List.of(new Claim.Request(id, WORK, key, false, message(id)))))
        .get(0);
  }

  private Claim.Ticket start(ActivityId id, String key) {
    return ((Claim.Started) claim(id, key)).ticket();
  }

  private void settle(Claim.Ticket ticket, Settlement.How how) {
    assertThat(
            result(
                schema
                    .store()
                    .settle(ME, List.of(new Settlement(ticket, how, message(ticket.id()))))))
        .containsExactly(true);
  }

  private ActivityId inReview(String key) {
    ActivityId id = new ActivityId(consumer, "review-" + ++events);
    settle(start(id, key), new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    return id;
  }

  private ActivityId dead() {
    return dead(null);
  }

  private ActivityId dead(String key) {
    ActivityId id = new ActivityId(consumer, "dead-" + ++events);
    settle(
        start(id, key),
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    return id;
  }

  private List<Claim.Due> due() {
    return due(schema.store());
  }

  private List<Claim.Due> due(ActivityStore of) {
    return result(of.claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(WORK, 10))));
  }

  private ReviewRequest decision(ActivityId id, Decision decision, Long fence) {
    return new ReviewRequest(
        id.consumer(), id.eventId(), decision, "ann", "I asked the bank", fence);
  }

  private void assertKind(ReviewRequest request, FailureKind kind) {
    assertThat(FencepostException.is(failure(reviews.resolve(request)), kind)).isTrue();
  }

  private ActivityHistory history(ActivityId id) {
    return result(new PgHistoryStore(schema.database()).history(id.consumer(), id.eventId()));
  }

  private List<ViewRow> letters(ActivityId id) {
    return history(id).deadLetters();
  }

  private static List<String> audit(ActivityHistory history) {
    return history.audit().stream().map(line -> line.text("action")).toList();
  }

  private String body(ActivityId id) {
    long letter = letters(id).get(0).number("id");
    ViewRow row = result(new PgDeadLetterStore(schema.database()).find(letter));
    return new String((byte[]) row.columns().get("body"), StandardCharsets.UTF_8);
  }
}
