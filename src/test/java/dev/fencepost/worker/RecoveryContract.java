package dev.fencepost.worker;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a store promises of leases, takeovers and probes. */
public abstract class RecoveryContract extends OutcomeContract {
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
        .containsExactly(
            ActivityStore.Renewed.STORED, ActivityStore.Renewed.LOST, ActivityStore.Renewed.LOST);
    elapse(Duration.ofSeconds(10));
    assertThat(result(store().expired(consumer, null, 10))).isEmpty();
    elapse(TTL);
    Evidence evidence = result(store().expired(consumer, null, 10)).get(0);
    assertThat(evidence.holder()).isEqualTo(new Evidence.Holder(ME, 1, true, "uploading", 7L));
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
  protected void aSuspectThatComesBackIsNoneAnyMore() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Claim.Due again = suspect(ME);
    settle(ME, again.ticket(), again(failedTransiently(), Duration.ZERO, true));
    assertThat(due(ME)).extracting(d -> d.ticket().attempt()).containsExactly(3);
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
        .isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED, 0));
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
    assertThat(told()).as("there is none yet").isEmpty();
    assertThat(claim(redelivered(request))).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
    assertThat(claim(redelivered(request))).isEqualTo(new Claim.Duplicate(ActivityState.DEAD));
    assertThat(seen(request.id()).deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.RETRIES_EXHAUSTED, 1, text(request.envelope())));
    assertThat(told()).containsExactly(lost(request));
  }

  /** How a run that had no start left is told of. */
  private static DeadLettered lost(Claim.Request request) {
    return new DeadLettered(
        request.id(),
        "t",
        DeadLetterReason.RETRIES_EXHAUSTED,
        1,
        new ErrorInfo("lease_lost", "no outcome was reported", null));
  }

  @Test
  protected void aMessageThatIsOnlyKeptBringsTheDeathThatWaitedForIt() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    result(store().recover(ME, expired(request), RecoveryDecision.EXHAUSTED, null));
    assertThat(result(store().keepBody(request.id(), request.envelope()))).isTrue();
    assertThat(told()).containsExactly(lost(request));
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
    assertThat(told())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.id()).isEqualTo(bad.id());
              assertThat(letter.reason()).isEqualTo(DeadLetterReason.PERMANENT_FAILURE);
              assertThat(letter.error().errorClass()).isEqualTo("failed_permanent");
            });
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
    assertThat(claim(request))
        .isInstanceOfSatisfying(
            Claim.Held.class,
            held -> assertThat(held.evidence().holder().open()).as("a probe's").isFalse());
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
    settle(ME, ticket, new Settlement.Undecided(AttemptOutcome.TIMED_OUT, ERROR, Duration.ZERO));
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.RUNNING);
    assertThat(seen.outcomes()).containsExactly(AttemptOutcome.TIMED_OUT);
    Evidence evidence = expired(request);
    assertThat(evidence.holder().fence()).isEqualTo(2);
    assertThat(evidence.holder().open()).as("its start has been reported").isFalse();
    assertThat(evidence.hasBody()).isTrue();
    assertThat(complete(ticket)).as("the late result").isFalse();
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    assertThat(seen(request.id()).outcomes()).containsExactly(AttemptOutcome.TIMED_OUT);
    assertThat(due(ME)).as("its process did not die of it").hasSize(1);
  }

  @Test
  protected void anUndecidedRunIsLeftAloneForAsLongAsItsRemoteAsked() {
    Duration quiet = Duration.ofMinutes(10);
    Claim.Request request = request(ActivityKind.QUERYABLE);
    settle(ME, start(request), new Settlement.Undecided(AttemptOutcome.UNKNOWN, ERROR, quiet));
    elapse(quiet.minusSeconds(10));
    assertThat(result(store().expired(consumer, null, 10))).isEmpty();
    elapse(Duration.ofSeconds(10));
    Evidence evidence = expired(request);
    assertThat(evidence.lease().overdue()).isBetween(Duration.ZERO, Duration.ofSeconds(5));
    ActivityStore.Hold hold = result(store().holdForProbe(ME, evidence, request.work()));
    ActivityStore.Probed never =
        new ActivityStore.Probed(RecoveryDecision.RETRY_SAME_ACTIVITY, null, "never", quiet);
    assertThat(result(store().settleProbed(ME, hold.ticket(), never, null))).isTrue();
    elapse(quiet.minusSeconds(10));
    assertThat(due(ME)).isEmpty();
    elapse(Duration.ofSeconds(10));
    assertThat(due(ME)).hasSize(1);
  }

  @Test
  protected void limitsAreAskedAgainAtTheStart() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    Claim.Work strict = new Claim.Work("t", ActivityKind.IDEMPOTENT, 1, 0, TTL);
    assertThat(result(store().claimSuspect(ME, consumer, Map.of("t", strict)))).isNull();
    assertThat(told())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.id()).isEqualTo(request.id());
              assertThat(letter.reason()).isEqualTo(DeadLetterReason.RETRIES_EXHAUSTED);
              assertThat(letter.attempts()).isEqualTo(1);
            });
    Seen seen = seen(request.id());
    assertThat(seen.state()).isEqualTo(ActivityState.DEAD);
    assertThat(seen.deadLetters())
        .containsExactly(
            new Seen.Dead(DeadLetterReason.RETRIES_EXHAUSTED, 1, text(request.envelope())));
  }

  @Test
  protected void aSuspectThatDidNotRunStaysOne() {
    Claim.Request request = request();
    start(request, OTHER);
    elapse(TTL);
    recover(ME, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    settle(ME, suspect(ME).ticket(), new Settlement.Interrupted());
    assertThat(due(ME)).as("interrupted: nothing has cleared it").isEmpty();
    Claim.Due again = suspect(ME);
    assertThat(again.ticket().attempt()).isEqualTo(2);
    settle(ME, again.ticket(), new Settlement.Postponed(Duration.ZERO, ERROR));
    assertThat(due(ME)).as("postponed: nothing was called").isEmpty();
    assertThat(suspect(ME).ticket().attempt()).isEqualTo(2);
    elapse(TTL);
    assertThat(expired(request).suspect()).isTrue();
  }

  @Test
  protected void theEvidenceSaysSinceWhenALeaseIsOver() {
    Claim.Request request = request();
    start(request, OTHER);
    Claim.Held held = (Claim.Held) claim(redelivered(request));
    assertThat(held.evidence().lease().overdue()).isNegative();
    elapse(TTL.plusSeconds(60));
    assertThat(expired(request).lease().overdue())
        .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(90));
    assertThat(expired(request).suspect()).isFalse();
  }
}
