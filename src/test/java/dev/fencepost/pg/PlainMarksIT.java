package dev.fencepost.pg;

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
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewRequest.Decision;
import dev.fencepost.operations.Who;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every way through the states with an ordering key and an event behind it: each statement keeps
 * what the indexes look for (the table's checks refuse one that does not), and what stands behind
 * goes on once, when it may.
 */
class PlainMarksIT {
  private static final String ME = "host-1-aaaa";
  private static final String KEY = "k";
  private static final ErrorInfo ERROR = new ErrorInfo("Boom", "it broke", null);
  private static final Claim.Work WORK =
      new Claim.Work("t", ActivityKind.IDEMPOTENT, 2, 1, Duration.ofSeconds(30));

  private static WorkerSchema schema;

  private final String consumer = "c" + System.nanoTime();
  private final ActivityId first = new ActivityId(consumer, "first");
  private final ActivityId behind = new ActivityId(consumer, "behind");

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  // ---- what people decide

  @ParameterizedTest
  @EnumSource(Decision.class)
  void aReviewIsDecided(Decision decision) {
    settle(start(), new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR), message());
    block();
    assertMarks(first, "manual_review manual_review k");
    decide(decision);
    if (decision == Decision.RETRY) {
      assertMarks(first, "retry_scheduled - k");
      complete(first);
    } else {
      assertMarks(first, (decision == Decision.FAILED ? "dead" : "completed") + " - -");
    }
    assertGoesOn();
  }

  @ParameterizedTest
  @EnumSource(Decision.class)
  void aReviewIsDecidedBeforeItsMessageIsHere(Decision decision) {
    settle(start(), new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR), null);
    block();
    decide(decision);
    assertMarks(
        first,
        switch (decision) {
          case RETRY -> "retry_scheduled - k";
          case FAILED -> "dead - -";
          case SUCCEEDED -> "completed - -";
        });
    deliver(first);
    if (decision == Decision.RETRY) {
      complete(first);
    }
    assertGoesOn();
  }

  @Test
  void aDeadLetterIsRedriven() {
    settle(start(), dead(), message());
    assertMarks(first, "dead - -");
    PgDeadLetterChanges letters = new PgDeadLetterChanges(schema.database());
    long letter =
        Long.parseLong(
            text("select id from fencepost.dead_letters where consumer = '" + consumer + "'"));
    assertThat(result(letters.redrive(List.of(letter), new Who("ann", "fixed"))).get(0).outcome())
        .isEqualTo(Outcome.REDRIVEN);
    assertMarks(first, "retry_scheduled - k");
    block();
    complete(first);
    assertGoesOn();
  }

  // ---- types that nobody knows

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTypeBecomesKnown(boolean byItsMessage) {
    result(schema.store().storeUnresolved(first, "t", KEY, message()));
    assertMarks(first, "unresolved unresolved k");
    block();
    if (byItsMessage) {
      deliver(first);
    } else {
      assertThat(
              result(
                  schema.store().resolveTypes(consumer, List.of("t"), Duration.ofHours(24), 100)))
          .isEqualTo(1);
    }
    assertMarks(first, "retry_scheduled - k");
    complete(first);
    assertGoesOn();
  }

  @Test
  void aTypeIsGivenUp() {
    result(schema.store().storeUnresolved(first, "u", KEY, message()));
    block();
    schema.elapse(consumer, Duration.ofDays(2));
    result(schema.store().resolveTypes(consumer, List.of("t"), Duration.ofHours(24), 100));
    assertMarks(first, "dead - -");
    assertGoesOn();
  }

  @Test
  void poisonHasNoKey() {
    result(schema.store().poison(first, null, message(), ERROR));
    assertMarks(first, "dead - -");
    assertThat(deliver(first)).isInstanceOf(Claim.Duplicate.class);
  }

  // ---- starts that end otherwise

  @Test
  void deathWaitsForTheMessage() {
    settle(start(), dead(), null);
    block();
    assertMarks(first, "retry_scheduled - k");
    deliver(first);
    assertMarks(first, "dead - -");
    assertGoesOn();
  }

  @Test
  void startsAreUsedUpMeanwhile() {
    settle(start(), again(), message());
    block();
    PostgresServer.execute(
        schema.uri(),
        "update fencepost.activity set attempts = 2 where consumer = '"
            + consumer
            + "' and event_id = 'first'");
    assertThat(due()).isEmpty();
    assertMarks(first, "dead - -");
    assertGoesOn();
  }

  @Test
  void whatWasInterruptedOrRetriedOrPutOffIsDueAgain() {
    settle(start(), new Settlement.Interrupted(), message());
    block();
    settle(due().get(0).ticket(), again(), message());
    assertMarks(first, "retry_scheduled - k");
    settle(due().get(0).ticket(), new Settlement.Postponed(Duration.ZERO, ERROR), message());
    assertMarks(first, "retry_scheduled - k");
    settle(
        due().get(0).ticket(),
        new Settlement.Undecided(AttemptOutcome.UNKNOWN, ERROR, Duration.ZERO),
        message());
    assertMarks(first, "running - k");
    recover(RecoveryDecision.RECORD_COMPLETION);
    assertMarks(first, "completed - -");
    assertGoesOn();
  }

  @Test
  void severalOfAKeyArePutOff() {
    List<Claim.Answer> answers =
        result(schema.store().defer(List.of(request(first), request(behind))));
    assertThat(answers.get(0)).isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED));
    assertThat(answers.get(1)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertMarks(first, "retry_scheduled - k");
    complete(first);
    assertGoesOn();
  }

  // ---- takeovers

  @ParameterizedTest
  @EnumSource(
      value = RecoveryDecision.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"WAIT"})
  void itIsTakenOver(RecoveryDecision decision) {
    Claim.Ticket old = start();
    block();
    expire();
    recover(decision);
    end(decision);
    assertThat(result(schema.store().settle(ME, List.of(success(old))))).containsExactly(false);
    assertGoesOn();
  }

  @ParameterizedTest
  @EnumSource(
      value = RecoveryDecision.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"WAIT"})
  void itIsProbed(RecoveryDecision decision) {
    start();
    block();
    expire();
    ActivityStore.Hold hold = result(schema.store().holdForProbe("other", expired(), WORK));
    assertMarks(first, "running - k");
    assertThat(
            result(
                schema
                    .store()
                    .settleProbed(
                        "other",
                        hold.ticket(),
                        new ActivityStore.Probed(decision, null, "asked", Duration.ZERO),
                        message())))
        .isTrue();
    end(decision);
    assertGoesOn();
  }

  // ---- effects

  @Test
  void effectsOfAKey() {
    ActivityStore.EffectGroup group =
        result(schema.store().beginEffects(ME, Duration.ofSeconds(20), List.of(request(first))));
    result(group.commit(List.of(Receipt.succeeded("yes"))));
    assertMarks(first, "completed - -");
    ActivityStore.EffectGroup other =
        result(schema.store().beginEffects(ME, Duration.ofSeconds(20), List.of(request(behind))));
    result(other.commit(List.of(Receipt.failedPermanently("no"))));
    assertMarks(behind, "dead - -");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anEffectThatIsRetried(boolean succeeds) {
    settle(start(), again(), message());
    block();
    Claim.Ticket ticket = due().get(0).ticket();
    ActivityStore.EffectGroup group =
        result(schema.store().beginEffect(ME, Duration.ofSeconds(20), ticket, message()));
    result(group.commit(List.of(succeeds ? Receipt.succeeded() : Receipt.failedPermanently("no"))));
    assertMarks(first, succeeds ? "completed - -" : "dead - -");
    assertGoesOn();
  }

  // ---- words of the tests

  private Claim.Request request(ActivityId id) {
    return new Claim.Request(id, WORK, KEY, false, message());
  }

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }

  private Claim.Answer deliver(ActivityId id) {
    return result(schema.store().claim(ME, List.of(request(id)))).get(0);
  }

  private Claim.Ticket start() {
    Claim.Ticket ticket = ((Claim.Started) deliver(first)).ticket();
    assertMarks(first, "running - k");
    return ticket;
  }

  private void block() {
    assertThat(deliver(behind)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertMarks(behind, "blocked blocked k");
  }

  /** Released once: due, alone, and the key is free when it has ended. */
  private void assertGoesOn() {
    assertMarks(behind, "retry_scheduled - k");
    complete(behind);
    assertThat(due()).isEmpty();
    ActivityId next = new ActivityId(consumer, "next");
    assertThat(deliver(next)).isInstanceOf(Claim.Started.class);
  }

  private void complete(ActivityId id) {
    List<Claim.Due> due = due();
    assertThat(due).extracting(d -> d.ticket().id()).containsExactly(id);
    assertMarks(id, "running - k");
    assertThat(result(schema.store().settle(ME, List.of(success(due.get(0).ticket())))))
        .containsExactly(true);
    assertMarks(id, "completed - -");
  }

  private static Settlement success(Claim.Ticket ticket) {
    return new Settlement(ticket, new Settlement.Completed(Receipt.succeeded()), null);
  }

  private static Settlement.How dead() {
    return new Settlement.Dead(
        DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR);
  }

  private static Settlement.How again() {
    return new Settlement.RunAgain(AttemptOutcome.TRANSIENT_FAILURE, Duration.ZERO, true, ERROR);
  }

  private void settle(Claim.Ticket ticket, Settlement.How how, Delivery.Envelope envelope) {
    assertThat(result(schema.store().settle(ME, List.of(new Settlement(ticket, how, envelope)))))
        .containsExactly(true);
  }

  private List<Claim.Due> due() {
    return result(
        schema.store().claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(WORK, 10))));
  }

  private void decide(Decision decision) {
    result(
        new PgReviewStore(schema.database())
            .resolve(
                new ReviewRequest(consumer, "first", decision, "ann", "I asked the bank", null)));
  }

  private void expire() {
    schema.elapse(consumer, Duration.ofMinutes(1));
  }

  private Evidence expired() {
    return result(schema.store().expired(consumer, null, 10)).get(0);
  }

  private void recover(RecoveryDecision decision) {
    assertThat(result(schema.store().recover("other", expired(), decision, message()))).isTrue();
  }

  private void end(RecoveryDecision decision) {
    switch (decision) {
      case RECORD_COMPLETION -> assertMarks(first, "completed - -");
      case RECORD_FAILURE, EXHAUSTED -> assertMarks(first, "dead - -");
      case RETRY_SAME_ACTIVITY -> {
        assertMarks(first, "retry_scheduled - k");
        Claim.Due suspect = result(schema.store().claimSuspect(ME, consumer, Map.of("t", WORK)));
        Claim.Due due = suspect == null ? due().get(0) : suspect;
        settle(due.ticket(), new Settlement.Completed(Receipt.succeeded()), null);
      }
      default -> {
        assertMarks(first, "manual_review manual_review k");
        decide(Decision.SUCCEEDED);
      }
    }
  }

  private void assertMarks(ActivityId id, String expected) {
    assertThat(
            text(
                "select state || ' ' || coalesce(waits, '-') || ' ' || coalesce(live_key, '-')"
                    + " from fencepost.activity where consumer = '"
                    + consumer
                    + "' and event_id = '"
                    + id.eventId()
                    + "'"))
        .as(id.eventId())
        .isEqualTo(expected);
  }

  private static String text(String sql) {
    try (Connection connection = PostgresServer.connect(schema.uri());
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
