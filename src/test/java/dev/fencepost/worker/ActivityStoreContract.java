package dev.fencepost.worker;

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
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What every store of activities promises, whatever holds it. Each test uses events of its own;
 * time is moved, never waited for.
 */
public abstract class ActivityStoreContract {
  protected static final Duration TTL = Duration.ofSeconds(30);
  protected static final Duration HARD = Duration.ofSeconds(20);
  protected static final String ME = "host-1-aaaa";
  protected static final String OTHER = "host-2-bbbb";
  protected static final ErrorInfo ERROR = new ErrorInfo("Boom", "it broke", "a cause");

  private static int counter;

  /** A consumer of this test only. */
  protected final String consumer = "consumer-" + System.nanoTime() + "-" + ++counter;

  private final Map<ActivityId, Delivery.Envelope> messages = new HashMap<>();
  private int events;

  protected abstract ActivityStore store();

  /** Lets time pass for everything that is stored. */
  protected abstract void elapse(Duration time);

  /** What is stored of an activity, or null. */
  protected abstract Seen seen(ActivityId id);

  /**
   * @param attempts counted starts
   * @param receipt null when there is none
   * @param outcomes of all attempts that have ended, in the order of their fences
   * @param deadLetters reasons, with their bodies
   * @param audit actions, in order
   */
  public record Seen(
      ActivityState state,
      int attempts,
      int retries,
      int redeliveries,
      long fence,
      boolean awaitingMessage,
      ReceiptOutcome receipt,
      List<AttemptOutcome> outcomes,
      List<Dead> deadLetters,
      List<String> audit) {
    public record Dead(DeadLetterReason reason, int attempts, String body) {}
  }

  // ---- claims

  @Test
  protected void aFirstClaimCountsAStart() {
    Claim.Ticket ticket = start(request());
    assertThat(ticket.fence()).isEqualTo(1);
    assertThat(ticket.attempt()).isEqualTo(1);
    assertThat(ticket.generation()).isEqualTo(1);
    assertThat(ticket.first()).isTrue();
    assertThat(ticket.suspect()).isFalse();
    Seen seen = seen(ticket.id());
    assertThat(seen.state()).isEqualTo(ActivityState.RUNNING);
    assertThat(seen.attempts()).isEqualTo(1);
    assertThat(seen.outcomes()).isEmpty();
  }

  @Test
  protected void aGroupIsAnsweredInItsOrder() {
    List<Claim.Request> group = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      group.add(request());
    }
    Claim.Ticket done = start(group.get(7));
    complete(done);
    start(group.get(11), OTHER);
    List<Claim.Answer> answers = result(store().claim(ME, group));
    assertThat(answers).hasSize(50);
    for (int i = 0; i < 50; i++) {
      if (i == 7) {
        assertThat(answers.get(i)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
      } else if (i == 11) {
        assertThat(answers.get(i)).isInstanceOf(Claim.Held.class);
      } else {
        Claim.Started started = (Claim.Started) answers.get(i);
        assertThat(started.ticket().id()).isEqualTo(group.get(i).id());
      }
    }
  }

  @Test
  protected void theSecondRequestOfAnEventInAGroupIsHeldByTheFirst() {
    Claim.Request request = request();
    List<Claim.Answer> answers = result(store().claim(ME, List.of(request, request)));
    assertThat(answers.get(0)).isInstanceOf(Claim.Started.class);
    Claim.Held held = (Claim.Held) answers.get(1);
    assertThat(held.evidence().holder().owner()).isEqualTo(ME);
    assertThat(held.evidence().holder().fence()).isEqualTo(1);
    assertThat(seen(request.id()).attempts()).isEqualTo(1);
  }

  @Test
  protected void aRunningActivityIsHeldUntilItsLeaseExpires() {
    Claim.Request request = request();
    start(request, OTHER);
    Claim.Held held = (Claim.Held) claim(redelivered(request));
    assertThat(held.remaining()).isBetween(Duration.ofSeconds(20), TTL);
    assertThat(held.evidence().holder().owner()).isEqualTo(OTHER);
    assertThat(seen(request.id()).redeliveries()).isEqualTo(1);
    elapse(TTL);
    Claim.Expired expired = (Claim.Expired) claim(redelivered(request));
    assertThat(expired.evidence().counts().attempts()).isEqualTo(1);
    assertThat(expired.evidence().counts().maxAttempts()).isEqualTo(4);
    assertThat(expired.evidence().kind()).isEqualTo(ActivityKind.IDEMPOTENT);
    assertThat(expired.evidence().sinceStart()).isGreaterThanOrEqualTo(TTL);
    assertThat(seen(request.id()).redeliveries()).isEqualTo(2);
    assertThat(seen(request.id()).attempts()).isEqualTo(1);
  }

  // ---- settlements

  @Test
  protected void aSuccessLeavesReceiptAndState() {
    Claim.Request request = request();
    complete(start(request));
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen.receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    assertThat(seen.outcomes()).containsExactly(AttemptOutcome.SUCCEEDED);
    assertThat(claim(request)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
  }

  @Test
  protected void aSettlementThatWasAppliedIsAnsweredTrueOnceMore() {
    Claim.Ticket plain = start(request());
    Claim.Ticket unknown = start(request());
    List<Settlement> group =
        List.of(
            settlement(plain, new Settlement.Completed(Receipt.succeeded("ref"))),
            settlement(unknown, again(AttemptOutcome.TIMED_OUT, Duration.ZERO, false)));
    assertThat(result(store().settle(ME, group))).containsExactly(true, true);
    Seen before = seen(unknown.id());
    assertThat(result(store().settle(ME, group))).containsExactly(true, true);
    assertThat(seen(unknown.id())).isEqualTo(before);
    assertThat(seen(plain.id()).audit()).isEmpty();
  }

  @Test
  protected void aStaleHolderChangesNothingButTheAuditLog() {
    Claim.Request request = request();
    Claim.Ticket stale = start(request);
    elapse(TTL);
    recover(OTHER, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Claim.Ticket now = suspect(OTHER).ticket();
    assertThat(now.fence()).isGreaterThan(stale.fence());
    Seen before = seen(request.id());
    assertThat(settle(ME, stale, new Settlement.Completed(Receipt.succeeded("late")))).isFalse();
    assertThat(settle(ME, stale, new Settlement.Dead(permanent(), failed(), ERROR))).isFalse();
    assertThat(result(store().recordReceipt(ME, stale, Receipt.succeeded()))).isFalse();
    Seen after = seen(request.id());
    assertThat(after.state()).isEqualTo(ActivityState.RUNNING);
    assertThat(after.fence()).isEqualTo(before.fence());
    assertThat(after.receipt()).isNull();
    assertThat(after.deadLetters()).isEmpty();
    assertThat(after.audit()).endsWith("lease_lost", "lease_lost", "lease_lost");
    complete(OTHER, now);
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  protected void anotherOwnerWithTheSameFenceIsRefused() {
    Claim.Ticket ticket = start(request());
    assertThat(settle(OTHER, ticket, new Settlement.Completed(Receipt.succeeded()))).isFalse();
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.RUNNING);
  }

  @Test
  protected void anExpiredHolderWhomNobodyReplacedMayStillSettle() {
    Claim.Ticket ticket = start(request());
    elapse(TTL.multipliedBy(2));
    assertThat(complete(ticket)).isTrue();
  }

  @Test
  protected void aRetryIsDueByTheDatabaseAndKeepsItsMessage() {
    Claim.Request request = request();
    Claim.Ticket first = start(request);
    assertThat(settle(ME, first, again(failedTransiently(), Duration.ofSeconds(60), true)))
        .isTrue();
    assertThat(claim(request)).isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED));
    assertThat(due(ME)).isEmpty();
    elapse(Duration.ofSeconds(61));
    Claim.Due second = due(ME).get(0);
    assertThat(second.ticket().id()).isEqualTo(request.id());
    assertThat(second.ticket().attempt()).isEqualTo(2);
    assertThat(second.ticket().retries()).isEqualTo(1);
    assertThat(second.ticket().fence()).isEqualTo(2);
    assertThat(second.ticket().first()).isFalse();
    assertThat(second.ticket().suspect()).isFalse();
    assertSameMessage(second.envelope(), request.envelope());
    assertThat(due(OTHER)).isEmpty();
    complete(second.ticket());
    assertThat(seen(request.id()).outcomes())
        .containsExactly(AttemptOutcome.TRANSIENT_FAILURE, AttemptOutcome.SUCCEEDED);
  }

  @Test
  protected void dueRetriesAreStartedOldestFirstWithinTheFreeSlots() {
    List<ActivityId> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Claim.Ticket ticket = start(request());
      ids.add(ticket.id());
      settle(ME, ticket, again(failedTransiently(), Duration.ofSeconds(50 - 10L * i), true));
    }
    elapse(Duration.ofSeconds(60));
    List<Claim.Due> some = due(ME, 2);
    assertThat(some)
        .extracting(d -> d.ticket().id())
        .containsExactlyInAnyOrder(ids.get(4), ids.get(3));
    assertThat(due(ME, 0)).isEmpty();
    assertThat(due(ME, 10)).hasSize(3);
  }

  @Test
  protected void theHardLimitRaisesTheFenceAgainstTheRunThatGoesOn() {
    Claim.Ticket ticket = start(request());
    settle(ME, ticket, again(AttemptOutcome.TIMED_OUT, Duration.ofSeconds(5), false));
    Seen seen = seen(ticket.id());
    assertThat(seen.fence()).isEqualTo(2);
    assertThat(seen.retries()).isZero();
    assertThat(seen.attempts()).isEqualTo(1);
    assertThat(result(store().recordReceipt(ME, ticket, Receipt.succeeded()))).isFalse();
    result(store().recordLate(ME, ticket, Receipt.succeeded("late"), null));
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(seen(ticket.id()).receipt()).isNull();
    assertThat(seen(ticket.id()).audit()).hasSize(2);
  }

  @Test
  protected void aGracefulShutdownUsesUpNoAttempt() {
    Claim.Ticket ticket = start(request());
    settle(ME, ticket, new Settlement.Interrupted());
    assertThat(seen(ticket.id()).attempts()).isZero();
    Claim.Due again = due(OTHER).get(0);
    assertThat(again.ticket().attempt()).isEqualTo(1);
    assertThat(again.ticket().fence()).isEqualTo(2);
    complete(OTHER, again.ticket());
    assertThat(seen(ticket.id()).outcomes())
        .containsExactly(AttemptOutcome.INTERRUPTED, AttemptOutcome.SUCCEEDED);
  }

  @Test
  protected void whatWasPostponedIsChargedNothing() {
    Claim.Ticket ticket = start(request());
    settle(ME, ticket, new Settlement.Postponed(Duration.ofSeconds(10), ERROR));
    assertThat(seen(ticket.id()).attempts()).isZero();
    assertThat(seen(ticket.id()).retries()).isZero();
    assertThat(due(ME)).isEmpty();
    elapse(Duration.ofSeconds(10));
    assertThat(due(ME)).hasSize(1);
  }

  @Test
  protected void aDeadLetterKeepsTheBodyAndComesOnce() {
    Claim.Request request = request();
    Claim.Ticket ticket = start(request);
    settle(ME, ticket, new Settlement.Dead(permanent(), failed(), ERROR));
    settle(ME, ticket, new Settlement.Dead(permanent(), failed(), ERROR));
    Seen seen = seen(ticket.id());
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.outcomes()).containsExactly(AttemptOutcome.PERMANENT_FAILURE);
    assertThat(seen.deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(request.envelope())));
    assertThat(claim(request)).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
  }

  @Test
  protected void aReceiptThatSaysFailedIsADeadLetter() {
    Claim.Ticket ticket = start(request());
    settle(ME, ticket, new Settlement.Completed(Receipt.failedPermanently("no such order")));
    Seen seen = seen(ticket.id());
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.receipt()).isEqualTo(ReceiptOutcome.FAILED_PERMANENT);
    assertThat(seen.deadLetters())
        .extracting(Seen.Dead::reason)
        .containsExactly(DeadLetterReason.PERMANENT_FAILURE);
  }

  @Test
  protected void aRecordedReceiptIsStrongerThanTheOutcome() {
    Claim.Ticket ticket = start(request());
    assertThat(result(store().recordReceipt(ME, ticket, Receipt.succeeded("ref")))).isTrue();
    assertThat(result(store().recordReceipt(ME, ticket, Receipt.succeeded("ref")))).isTrue();
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.RUNNING);
    settle(ME, ticket, again(failedTransiently(), Duration.ZERO, true));
    Seen seen = seen(ticket.id());
    assertThat(seen.state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen.receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    assertThat(seen.retries()).isZero();
  }

  @Test
  protected void failuresOfAnyContentAreStored() {
    Claim.Request request =
        request(
            ActivityKind.IDEMPOTENT,
            null,
            new Delivery.Envelope(
                "x",
                "k",
                Map.of("type", "a\0b"),
                Map.of("n\0me", "v\0", "half", "\uD83D", "bytes", new byte[] {0, 1}),
                new byte[] {0, (byte) 0xff},
                null));
    Claim.Ticket ticket = start(request);
    String monster = "\0\uD83D" + "x".repeat(1_000_000) + "end";
    settle(ME, ticket, again(failedTransiently(), Duration.ZERO, true, monster));
    Claim.Due again = due(ME).get(0);
    assertThat(again.envelope().body()).containsExactly(0, 0xff);
    assertThat(again.envelope().properties()).containsEntry("type", "a\0b");
    assertThat(again.envelope().headers())
        .containsEntry("n\0me", "v\0")
        .containsEntry("half", "\uD83D");
    settle(
        ME,
        again.ticket(),
        new Settlement.Dead(permanent(), failed(), new ErrorInfo("E", monster, monster)));
    assertThat(seen(request.id()).deadLetters()).hasSize(1);
  }

  @Test
  protected void reviewStaysInReviewWhateverTheBackgroundDoes() {
    Claim.Request request = request(ActivityKind.IRREVERSIBLE);
    Claim.Ticket ticket = start(request);
    settle(ME, ticket, new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    Seen review = seen(ticket.id());
    assertThat(review.state()).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(result(store().openReviews(consumer))).isEqualTo(1);
    for (int hour = 0; hour < 3; hour++) {
      elapse(Duration.ofHours(1));
      assertThat(claim(redelivered(request)))
          .isEqualTo(new Claim.Waiting(ActivityState.MANUAL_REVIEW));
      assertThat(due(ME)).isEmpty();
      assertThat(result(store().claimSuspect(ME, consumer, Map.of("t", request.work())))).isNull();
      assertThat(result(store().expired(consumer, null, 100))).isEmpty();
      result(store().resolveTypes(consumer, List.of("t"), Duration.ZERO, 100));
      result(store().purge(consumer, Duration.ZERO, 100));
      assertThat(complete(ticket)).isFalse();
    }
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(seen(ticket.id()).receipt()).isNull();
    assertThat(seen(ticket.id()).attempts()).isEqualTo(1);
  }

  // ---- leases and recovery

  @Test
  protected void aRenewedLeaseDoesNotExpire() {
    Claim.Ticket ticket = start(request());
    Claim.Ticket gone = start(request());
    complete(gone);
    elapse(TTL.minusSeconds(5));
    assertThat(
            result(
                store()
                    .renew(
                        ME,
                        TTL,
                        List.of(
                            new ActivityStore.Renewal(ticket.id(), 1, 7L, "uploading"),
                            new ActivityStore.Renewal(gone.id(), 1, null, null),
                            new ActivityStore.Renewal(ticket.id(), 2, null, null)))))
        .containsExactly(true, false, false);
    elapse(Duration.ofSeconds(10));
    assertThat(result(store().expired(consumer, null, 10))).isEmpty();
    elapse(TTL);
    Evidence evidence = result(store().expired(consumer, null, 10)).get(0);
    assertThat(evidence.holder()).isEqualTo(new Evidence.Holder(ME, 1, "uploading", 7L));
  }

  @Test
  protected void theSweepSeesEachExpiredOnceInPages() {
    List<Claim.Request> group = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      group.add(request());
    }
    result(store().claim(ME, group));
    Claim.Ticket alive = start(request());
    elapse(TTL.minusSeconds(1));
    result(store().renew(ME, TTL, List.of(new ActivityStore.Renewal(alive.id(), 1, null, null))));
    elapse(Duration.ofSeconds(2));
    List<ActivityId> seen = new ArrayList<>();
    Evidence after = null;
    for (int page = 0; page < 5; page++) {
      List<Evidence> found = result(store().expired(consumer, after, 3));
      found.forEach(e -> seen.add(e.id()));
      if (found.size() < 3) {
        break;
      }
      after = found.get(2);
    }
    assertThat(seen)
        .containsExactlyInAnyOrderElementsOf(group.stream().map(Claim.Request::id).toList());
  }

  @Test
  protected void aTakeoverRecordsTheLostAttemptAndRunsAsASuspect() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Seen taken = seen(request.id());
    assertThat(taken.state()).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(taken.fence()).isEqualTo(2);
    assertThat(taken.attempts()).isEqualTo(1);
    assertThat(taken.retries()).isZero();
    assertThat(taken.outcomes()).containsExactly(AttemptOutcome.LEASE_LOST);
    assertThat(taken.audit()).containsExactly("takeover");
    assertThat(due(ME)).as("a suspect waits for its turn").isEmpty();
    Claim.Due again = suspect(ME);
    assertThat(again.ticket().suspect()).isTrue();
    assertThat(again.ticket().attempt()).isEqualTo(2);
    complete(again.ticket());
    assertThat(seen(request.id()).outcomes())
        .containsExactly(AttemptOutcome.LEASE_LOST, AttemptOutcome.SUCCEEDED);
  }

  @Test
  protected void onlyOneOfTwoTakesOver() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    Evidence evidence = expired(request);
    Future<Boolean> one =
        store().recover(ME, evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, request.envelope());
    Future<Boolean> two =
        store()
            .recover("host-3", evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, request.envelope());
    assertThat(List.of(result(one), result(two))).containsExactlyInAnyOrder(true, false);
    assertThat(seen(request.id()).audit()).containsExactly("takeover");
  }

  @Test
  protected void aLeaseThatWasRenewedMeanwhileIsNotTakenOver() {
    Claim.Request request = request();
    Claim.Ticket ticket = start(request, OTHER);
    elapse(TTL);
    Evidence evidence = expired(request);
    result(
        store().renew(OTHER, TTL, List.of(new ActivityStore.Renewal(ticket.id(), 1, null, null))));
    assertThat(result(store().recover(ME, evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, null)))
        .isFalse();
    assertThat(complete(OTHER, ticket)).isTrue();
  }

  @Test
  protected void aRowWithoutABodyWaitsForItsMessage() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    Evidence evidence = expired(request);
    assertThat(evidence.hasBody()).isFalse();
    result(store().recover(ME, evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, null));
    assertThat(seen(request.id()).awaitingMessage()).isTrue();
    assertThat(result(store().claimSuspect(ME, consumer, Map.of("t", request.work())))).isNull();
    assertThat(claim(redelivered(request)))
        .isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED));
    assertThat(seen(request.id()).awaitingMessage()).isFalse();
    assertSameMessage(suspect(ME).envelope(), request.envelope());
  }

  @Test
  protected void anExhaustedRowWithoutABodyDiesWithItsMessage() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    result(store().recover(ME, expired(request), RecoveryDecision.EXHAUSTED, null));
    assertThat(seen(request.id()).awaitingMessage()).isTrue();
    assertThat(seen(request.id()).deadLetters()).isEmpty();
    assertThat(claim(redelivered(request))).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
    assertThat(claim(redelivered(request))).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.RETRIES_EXHAUSTED, 1, text(request.envelope())));
  }

  @Test
  protected void recordedOutcomesAreRecordedOnTakeover() {
    Claim.Request good = request();
    Claim.Request bad = request();
    result(store().recordReceipt(OTHER, start(good, OTHER), Receipt.succeeded("ref")));
    result(store().recordReceipt(OTHER, start(bad, OTHER), Receipt.failedPermanently("gone")));
    elapse(TTL);
    assertThat(expired(good).receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    recover(ME, RecoveryDecision.RECORD_COMPLETION, good);
    assertThat(seen(good.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(good.id()).outcomes()).containsExactly(AttemptOutcome.SUPERSEDED);
    recover(ME, RecoveryDecision.RECORD_FAILURE, bad);
    assertThat(seen(bad.id()).state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen(bad.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(bad.envelope())));
  }

  @Test
  protected void aKeptBodyLetsTheMessageGo() {
    Claim.Request request = request();
    start(request, OTHER);
    assertThat(result(store().keepBody(request.id(), request.envelope()))).isTrue();
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.RUNNING);
    elapse(TTL);
    assertThat(expired(request).hasBody()).isTrue();
    result(store().recover(ME, expired(request), RecoveryDecision.RETRY_SAME_ACTIVITY, null));
    assertSameMessage(suspect(ME).envelope(), request.envelope());
    assertThat(result(store().keepBody(new ActivityId(consumer, "none"), request.envelope())))
        .isFalse();
  }

  @Test
  protected void aHoldForAProbeCountsNoStart() {
    Claim.Request request = request(ActivityKind.QUERYABLE);
    start(request, OTHER);
    elapse(TTL);
    Evidence evidence = expired(request);
    ActivityStore.Hold hold = result(store().holdForProbe(ME, evidence, request.work()));
    assertThat(hold.ticket().fence()).isEqualTo(2);
    assertThat(hold.ticket().attempt()).isEqualTo(1);
    assertThat(hold.envelope()).isNull();
    assertThat(result(store().holdForProbe("host-3", evidence, request.work()))).isNull();
    assertThat(seen(request.id()).outcomes()).containsExactly(AttemptOutcome.LEASE_LOST);
    assertThat(claim(request)).isInstanceOf(Claim.Held.class);
    assertThat(probed(hold, RecoveryDecision.RECORD_COMPLETION, Receipt.succeeded("found"), null))
        .isTrue();
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen.receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    assertThat(seen.attempts()).isEqualTo(1);
    assertThat(seen.outcomes()).containsExactly(AttemptOutcome.LEASE_LOST);
    assertThat(seen.audit()).containsExactly("takeover", "probe");
  }

  @Test
  protected void aProbeThatFoundNothingLeadsToARetryOrAReview() {
    Claim.Request request = request(ActivityKind.QUERYABLE);
    Claim.Request unclear = request(ActivityKind.QUERYABLE);
    start(request, OTHER);
    start(unclear, OTHER);
    elapse(TTL);
    ActivityStore.Hold hold = result(store().holdForProbe(ME, expired(request), request.work()));
    probed(hold, RecoveryDecision.RETRY_SAME_ACTIVITY, null, request.envelope());
    assertThat(suspect(ME).ticket().attempt()).isEqualTo(2);
    ActivityStore.Hold other = result(store().holdForProbe(ME, expired(unclear), unclear.work()));
    elapse(TTL);
    assertThat(
            result(
                store().recover("host-3", expired(unclear), RecoveryDecision.MANUAL_REVIEW, null)))
        .isTrue();
    assertThat(probed(other, RecoveryDecision.RECORD_COMPLETION, Receipt.succeeded(), null))
        .isFalse();
    assertThat(seen(unclear.id()).state()).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(seen(unclear.id()).audit()).endsWith("lease_lost");
  }

  @Test
  protected void anUndecidedRunIsLeftToTheSweepAtOnce() {
    Claim.Request request = request(ActivityKind.QUERYABLE);
    Claim.Ticket ticket = start(request);
    settle(ME, ticket, new Settlement.Undecided(AttemptOutcome.TIMED_OUT, ERROR));
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.RUNNING);
    assertThat(seen.outcomes()).containsExactly(AttemptOutcome.TIMED_OUT);
    Evidence evidence = expired(request);
    assertThat(evidence.holder().fence()).isEqualTo(2);
    assertThat(evidence.hasBody()).isTrue();
    assertThat(complete(ticket)).as("the late result").isFalse();
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    assertThat(seen(request.id()).outcomes()).containsExactly(AttemptOutcome.TIMED_OUT);
    assertThat(due(ME)).as("its process did not die of it").hasSize(1);
  }

  @Test
  protected void limitsAreAskedAgainAtTheStart() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Claim.Work strict = new Claim.Work("t", ActivityKind.IDEMPOTENT, 1, 0, TTL);
    assertThat(result(store().claimSuspect(ME, consumer, Map.of("t", strict)))).isNull();
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.RETRIES_EXHAUSTED, 1, text(request.envelope())));
  }

  // ---- effects

  @Test
  protected void effectsAreDoneWhenTheirTransactionCommits() {
    Claim.Request plain = request(ActivityKind.EFFECT);
    Claim.Request referenced = request(ActivityKind.EFFECT);
    Claim.Request failing = request(ActivityKind.EFFECT);
    Claim.Request done = request(ActivityKind.EFFECT);
    complete(start(done));
    ActivityStore.EffectGroup group =
        result(store().beginEffects(ME, HARD, List.of(plain, done, referenced, failing)));
    assertThat(group.answers().get(1)).isEqualTo(new Claim.Duplicate(ActivityState.COMPLETED));
    assertThat(((Claim.Started) group.answers().get(2)).ticket().id()).isEqualTo(referenced.id());
    assertThat(seen(plain.id())).isNull();
    result(
        group.commit(
            List.of(
                Receipt.succeeded(), Receipt.succeeded("ref"), Receipt.failedPermanently("no"))));
    assertThat(seen(plain.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(plain.id()).attempts()).isEqualTo(1);
    assertThat(seen(referenced.id()).receipt()).isEqualTo(ReceiptOutcome.SUCCEEDED);
    assertThat(seen(referenced.id()).outcomes()).containsExactly(AttemptOutcome.SUCCEEDED);
    assertThat(seen(failing.id()).state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen(failing.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(failing.envelope())));
  }

  @Test
  protected void effectsThatRolledBackWereNeverStarted() {
    Claim.Request request = request(ActivityKind.EFFECT);
    result(result(store().beginEffects(ME, HARD, List.of(request))).rollback());
    assertThat(seen(request.id())).isNull();
    result(result(store().beginEffects(ME, HARD, List.of(request))).abandon());
    assertThat(start(request).attempt()).isEqualTo(1);
  }

  @Test
  protected void aClaimedEffectIsDoneUnderItsFence() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    result(result(store().beginEffect(ME, HARD, ticket, request.envelope())).rollback());
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.RUNNING);
    ActivityStore.EffectGroup group =
        result(store().beginEffect(ME, HARD, ticket, request.envelope()));
    assertThat(group.answers()).containsExactly(new Claim.Started(ticket));
    result(group.commit(List.of(Receipt.succeeded("ref"))));
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(request.id()).attempts()).isEqualTo(1);
  }

  @Test
  protected void aClaimedEffectThatWasTakenOverDoesNotBegin() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    elapse(TTL);
    recover(OTHER, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Throwable failure = failure(store().beginEffect(ME, HARD, ticket, request.envelope()));
    assertThat(FencepostException.is(failure, FailureKind.LEASE_LOST)).isTrue();
    assertThat(seen(request.id()).audit()).endsWith("lease_lost");
  }

  @Test
  protected void aClaimedEffectWithAFailedReceiptKeepsItsMessage() {
    Claim.Request request = request(ActivityKind.EFFECT);
    Claim.Ticket ticket = start(request);
    ActivityStore.EffectGroup group =
        result(store().beginEffect(ME, HARD, ticket, request.envelope()));
    result(group.commit(List.of(Receipt.failedPermanently("no"))));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.PERMANENT_FAILURE, 1, text(request.envelope())));
  }

  // ---- order by key

  @Test
  protected void eventsOfAKeyWaitBehindTheOneThatWaitsAndComeInOrder() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Request third = keyed("k");
    Claim.Request other = keyed("another");
    settle(ME, start(first), again(failedTransiently(), Duration.ofSeconds(10), true));
    assertThat(claim(second)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(claim(third)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(claim(other)).isInstanceOf(Claim.Started.class);
    assertThat(due(ME)).isEmpty();
    elapse(Duration.ofSeconds(10));
    for (Claim.Request next : List.of(first, second, third)) {
      List<Claim.Due> due = due(ME);
      assertThat(due).extracting(d -> d.ticket().id()).containsExactly(next.id());
      assertThat(due.get(0).key()).isEqualTo("k");
      assertThat(due(OTHER)).as("one at a time").isEmpty();
      complete(due.get(0).ticket());
    }
    assertThat(claim(keyed("k"))).isInstanceOf(Claim.Started.class);
  }

  @Test
  protected void aRunningEventBlocksItsKey() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Ticket running = start(first);
    assertThat(claim(second)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    settle(ME, running, new Settlement.Dead(permanent(), failed(), ERROR));
    assertThat(due(ME)).extracting(d -> d.ticket().id()).containsExactly(second.id());
  }

  @Test
  protected void effectsOfAKeyWaitToo() {
    Claim.Request first = keyed("k");
    Claim.Request second = keyed("k");
    Claim.Request free = keyed("free");
    settle(ME, start(first), new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    ActivityStore.EffectGroup group = result(store().beginEffects(ME, HARD, List.of(second, free)));
    assertThat(group.answers().get(0)).isEqualTo(new Claim.Waiting(ActivityState.BLOCKED));
    assertThat(group.answers().get(1)).isInstanceOf(Claim.Started.class);
    result(group.commit(List.of(Receipt.succeeded())));
    assertThat(seen(second.id()).state()).isEqualTo(ActivityState.BLOCKED);
  }

  // ---- beside the way

  @Test
  protected void poisonIsADeadLetterOnce() {
    ActivityId id = new ActivityId(consumer, "digest-1");
    Delivery.Envelope broken =
        new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {(byte) 0xff}, "not UTF-8");
    result(store().poison(id, null, broken, ERROR));
    result(store().poison(id, null, broken, ERROR));
    Seen seen = seen(id);
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.deadLetters()).hasSize(1);
    assertThat(seen.deadLetters().get(0).reason()).isEqualTo(DeadLetterReason.POISON_MESSAGE);
    assertThat(seen.deadLetters().get(0).attempts()).isEqualTo(1);
  }

  @Test
  protected void anUnknownTypeRunsOnceItIsKnown() {
    Claim.Request request = request();
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    assertThat(seen(request.id()).state()).isEqualTo(ActivityState.UNRESOLVED);
    assertThat(due(ME)).isEmpty();
    assertThat(result(store().resolveTypes(consumer, List.of("u"), Duration.ofHours(24), 100)))
        .isZero();
    assertThat(result(store().resolveTypes(consumer, List.of("t"), Duration.ofHours(24), 100)))
        .isEqualTo(1);
    Claim.Due due = due(ME).get(0);
    assertThat(due.ticket().first()).isTrue();
    assertSameMessage(due.envelope(), request.envelope());
  }

  @Test
  protected void anUnknownTypeIsPoisonAfterItsTime() {
    Claim.Request request = request();
    result(store().storeUnresolved(request.id(), "t", null, request.envelope()));
    elapse(Duration.ofHours(25));
    result(store().resolveTypes(consumer, List.of("u"), Duration.ofHours(24), 100));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.POISON_MESSAGE, 1, text(request.envelope())));
  }

  @Test
  protected void startsOfTheWindowAreSummedOverTheFleet() {
    assertThat(result(store().countStarts(consumer, "t", 10, 1)))
        .isEqualTo(new ActivityStore.BudgetCounts(10, 1));
    assertThat(result(store().countStarts(consumer, "t", 5, 2)))
        .isEqualTo(new ActivityStore.BudgetCounts(15, 3));
    assertThat(result(store().countStarts(consumer, "t", 0, -1)))
        .isEqualTo(new ActivityStore.BudgetCounts(15, 2));
    assertThat(result(store().countStarts(consumer, "u", 1, 0)))
        .isEqualTo(new ActivityStore.BudgetCounts(1, 0));
    elapse(Duration.ofSeconds(30));
    assertThat(result(store().countStarts(consumer, "t", 0, 0)))
        .isEqualTo(new ActivityStore.BudgetCounts(0, 0));
  }

  @Test
  protected void onlyPlainlyCompletedWorkIsPurged() {
    Claim.Ticket plain = start(request());
    complete(plain);
    Claim.Ticket irreversible = start(request(ActivityKind.IRREVERSIBLE));
    complete(irreversible);
    Claim.Ticket dead = start(request());
    settle(ME, dead, new Settlement.Dead(permanent(), failed(), ERROR));
    Claim.Request taken = request();
    start(taken, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, taken);
    complete(suspect(ME).ticket());
    Claim.Ticket running = start(request());
    assertThat(result(store().purge(consumer, Duration.ofDays(7), 100))).isZero();
    elapse(Duration.ofDays(8));
    assertThat(result(store().purge(consumer, Duration.ofDays(7), 100))).isEqualTo(1);
    assertThat(seen(plain.id())).isNull();
    for (ActivityId stays : List.of(irreversible.id(), dead.id(), taken.id(), running.id())) {
      assertThat(seen(stays)).isNotNull();
    }
  }

  @Test
  protected void aStallLeavesALine() {
    Claim.Ticket ticket = start(request());
    result(store().recordStall(ticket, Duration.ofSeconds(11)));
    assertThat(seen(ticket.id()).audit()).containsExactly("stalled");
  }

  // ---- words of the tests

  protected static Claim.Work work(ActivityKind kind) {
    return new Claim.Work("t", kind, 4, 3, TTL);
  }

  protected Claim.Request request() {
    return request(ActivityKind.IDEMPOTENT);
  }

  protected Claim.Request request(ActivityKind kind) {
    return request(kind, null);
  }

  protected Claim.Request keyed(String key) {
    return request(ActivityKind.IDEMPOTENT, key);
  }

  private Claim.Request request(ActivityKind kind, String key) {
    String id = "event-" + (events + 1);
    return request(
        kind,
        key,
        new Delivery.Envelope(
            "orders",
            "order.placed",
            Map.of("message_id", id, "type", "t", "priority", 3),
            Map.of(
                "int", 1, "long", 1L << 40, "double", 1.5, "flag", true, "list", List.of("a", 2)),
            ("{\"id\":\"" + id + "\"}").getBytes(StandardCharsets.UTF_8),
            null));
  }

  private Claim.Request request(ActivityKind kind, String key, Delivery.Envelope envelope) {
    ActivityId id = new ActivityId(consumer, "event-" + ++events);
    messages.put(id, envelope);
    return new Claim.Request(id, work(kind), key, false, envelope);
  }

  protected static Claim.Request redelivered(Claim.Request r) {
    return new Claim.Request(r.id(), r.work(), r.key(), true, r.envelope());
  }

  protected Claim.Answer claim(Claim.Request request) {
    return result(store().claim(ME, List.of(request))).get(0);
  }

  protected Claim.Ticket start(Claim.Request request) {
    return start(request, ME);
  }

  protected Claim.Ticket start(Claim.Request request, String owner) {
    Claim.Answer answer = result(store().claim(owner, List.of(request))).get(0);
    assertThat(answer).isInstanceOf(Claim.Started.class);
    return ((Claim.Started) answer).ticket();
  }

  private Settlement settlement(Claim.Ticket ticket, Settlement.How how) {
    return new Settlement(ticket, how, messages.get(ticket.id()));
  }

  protected boolean settle(String owner, Claim.Ticket ticket, Settlement.How how) {
    return result(store().settle(owner, List.of(settlement(ticket, how)))).get(0);
  }

  protected boolean complete(Claim.Ticket ticket) {
    return complete(ME, ticket);
  }

  protected boolean complete(String owner, Claim.Ticket ticket) {
    return result(
            store()
                .settle(
                    owner,
                    List.of(
                        new Settlement(
                            ticket, new Settlement.Completed(Receipt.succeeded()), null))))
        .get(0);
  }

  private static Settlement.RunAgain again(
      AttemptOutcome outcome, Duration delay, boolean countsRetry) {
    return new Settlement.RunAgain(outcome, delay, countsRetry, ERROR);
  }

  private static Settlement.RunAgain again(
      AttemptOutcome outcome, Duration delay, boolean countsRetry, String message) {
    return new Settlement.RunAgain(outcome, delay, countsRetry, new ErrorInfo("E", message, null));
  }

  private static AttemptOutcome failedTransiently() {
    return AttemptOutcome.TRANSIENT_FAILURE;
  }

  private static AttemptOutcome failed() {
    return AttemptOutcome.PERMANENT_FAILURE;
  }

  private static DeadLetterReason permanent() {
    return DeadLetterReason.PERMANENT_FAILURE;
  }

  protected List<Claim.Due> due(String owner) {
    return due(owner, 10);
  }

  protected List<Claim.Due> due(String owner, int free) {
    Claim.Work work = work(ActivityKind.IDEMPOTENT);
    return result(
        store().claimDue(owner, consumer, Map.of("t", new ActivityStore.Slots(work, free))));
  }

  protected Claim.Due suspect(String owner) {
    Claim.Work work = work(ActivityKind.IDEMPOTENT);
    Claim.Due due = result(store().claimSuspect(owner, consumer, Map.of("t", work)));
    assertThat(due).isNotNull();
    return due;
  }

  protected Evidence expired(Claim.Request request) {
    return result(store().expired(consumer, null, 100)).stream()
        .filter(e -> e.id().equals(request.id()))
        .findFirst()
        .orElseThrow();
  }

  protected void recover(String owner, RecoveryDecision decision, Claim.Request request) {
    assertThat(result(store().recover(owner, expired(request), decision, request.envelope())))
        .isTrue();
  }

  private boolean probed(
      ActivityStore.Hold hold,
      RecoveryDecision decision,
      Receipt receipt,
      Delivery.Envelope envelope) {
    return result(
        store().settleProbed(ME, hold.ticket(), decision, receipt, "the remote says so", envelope));
  }

  private static String text(Delivery.Envelope envelope) {
    return new String(envelope.body(), StandardCharsets.UTF_8);
  }

  private static void assertSameMessage(Delivery.Envelope actual, Delivery.Envelope expected) {
    assertThat(actual.exchange()).isEqualTo(expected.exchange());
    assertThat(actual.routingKey()).isEqualTo(expected.routingKey());
    assertThat(actual.properties()).isEqualTo(expected.properties());
    assertThat(actual.headers()).isEqualTo(expected.headers());
    assertThat(actual.body()).isEqualTo(expected.body());
  }
}
