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
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What a store promises of those who are too late: whatever they want to write, nothing of the
 * activity changes, to the last column.
 */
public abstract class FenceContract extends EffectContract {

  /** All that is stored of an activity but its audit log. */
  protected abstract String stored(ActivityId id);

  /** Each way to end a start. */
  private static Map<String, Settlement.How> hows() {
    Map<String, Settlement.How> hows = new LinkedHashMap<>();
    hows.put("success", new Settlement.Completed(Receipt.succeeded()));
    hows.put("success with a receipt", new Settlement.Completed(Receipt.succeeded("late")));
    hows.put("receipt that says failed", new Settlement.Completed(Receipt.failedPermanently("no")));
    hows.put("retry", again(AttemptOutcome.TRANSIENT_FAILURE, Duration.ofSeconds(9), true));
    hows.put("time-out", again(AttemptOutcome.TIMED_OUT, Duration.ofSeconds(9), false));
    hows.put("interrupted", new Settlement.Interrupted());
    hows.put("postponed", new Settlement.Postponed(Duration.ofSeconds(9), ERROR));
    hows.put(
        "dead",
        new Settlement.Dead(
            DeadLetterReason.PERMANENT_FAILURE, AttemptOutcome.PERMANENT_FAILURE, ERROR));
    hows.put(
        "exhausted",
        new Settlement.Dead(
            DeadLetterReason.RETRIES_EXHAUSTED, AttemptOutcome.TRANSIENT_FAILURE, ERROR));
    hows.put("review", new Settlement.Review(AttemptOutcome.UNKNOWN, ERROR));
    hows.put("undecided", new Settlement.Undecided(AttemptOutcome.UNKNOWN, ERROR, Duration.ZERO));
    return hows;
  }

  private void assertRefused(String what, String owner, Claim.Ticket ticket, Settlement.How how) {
    String before = stored(ticket.id());
    int lines = seen(ticket.id()).audit().size();
    assertThat(settle(owner, ticket, how)).as(what).isFalse();
    assertThat(stored(ticket.id())).as(what).isEqualTo(before);
    assertThat(seen(ticket.id()).audit()).as(what).hasSize(lines + 1).endsWith("lease_lost");
  }

  /** Started by {@link #ME}, taken over and started anew by {@link #OTHER}. */
  private Claim.Ticket takenOver(Claim.Request request) {
    final Claim.Ticket stale = start(request);
    elapse(TTL);
    recover(OTHER, RecoveryDecision.RETRY_SAME_ACTIVITY, request);
    assertThat(suspect(OTHER).ticket().id()).isEqualTo(request.id());
    return stale;
  }

  @Test
  protected void whoeverWasTakenOverEndsNothing() {
    hows().forEach((what, how) -> assertRefused(what, ME, takenOver(request()), how));
  }

  @Test
  protected void theFenceOfTheOtherIsOfNoUseWithoutBeingTheOther() {
    hows().forEach((what, how) -> assertRefused(what, OTHER, start(request()), how));
  }

  @Test
  protected void theOwnerItselfEndsNoLaterStartOfItsOwnUnderAnEarlierFence() {
    hows()
        .forEach(
            (what, how) -> {
              Claim.Ticket first = start(request());
              settle(ME, first, new Settlement.Review(AttemptOutcome.TIMED_OUT, ERROR));
              settle(ME, first, new Settlement.Interrupted());
              String before = stored(first.id());
              settle(ME, first, how);
              assertThat(stored(first.id())).as(what).isEqualTo(before);
              Claim.Ticket again = start(request());
              settle(ME, again, new Settlement.Interrupted());
              Claim.Ticket second = due(ME).get(0).ticket();
              assertThat(second.fence()).isGreaterThan(again.fence());
              String running = stored(again.id());
              boolean answer = settle(ME, again, how);
              assertThat(stored(again.id())).as(what).isEqualTo(running);
              assertThat(answer)
                  .as("%s: only what had been applied is known again", what)
                  .isEqualTo(
                      how instanceof Settlement.Interrupted || how instanceof Settlement.Postponed);
              assertThat(complete(second)).isTrue();
            });
  }

  @Test
  protected void whatHasEndedIsNotEndedOnceMore() {
    Map<String, Settlement.How> ends = new LinkedHashMap<>(hows());
    ends.remove("undecided"); // still runs
    ends.forEach(
        (first, end) -> {
          Claim.Ticket ticket = start(request(ActivityKind.IRREVERSIBLE));
          assertThat(settle(ME, ticket, end)).isTrue();
          String before = stored(ticket.id());
          hows()
              .forEach(
                  (what, how) -> {
                    settle(ME, ticket, how);
                    assertThat(stored(ticket.id()))
                        .as("%s after %s", what, first)
                        .isEqualTo(before);
                  });
        });
  }

  @Test
  protected void whatNobodyReportedInTimeIsNotRenewedNorGivenAReceipt() {
    Claim.Ticket stale = takenOver(request());
    Claim.Ticket others = start(request(), OTHER);
    for (Claim.Ticket ticket : List.of(stale, others)) {
      String before = stored(ticket.id());
      assertThat(
              result(
                  store()
                      .renew(
                          ME,
                          TTL.multipliedBy(9),
                          List.of(
                              new ActivityStore.Renewal(
                                  ticket.id(), ticket.fence(), 99L, "late")))))
          .containsExactly(ActivityStore.Renewed.LOST);
      assertThat(result(store().recordReceipt(ME, ticket, Receipt.succeeded("late")))).isFalse();
      result(store().recordLate(ME, ticket, Receipt.succeeded("late"), null));
      assertThat(stored(ticket.id())).isEqualTo(before);
    }
  }

  @Test
  protected void aProbeThatWasTakenOverDecidesNothing() {
    List<RecoveryDecision> decisions = new ArrayList<>(List.of(RecoveryDecision.values()));
    decisions.remove(RecoveryDecision.WAIT);
    for (RecoveryDecision decision : decisions) {
      Claim.Request request = request(ActivityKind.QUERYABLE);
      start(request, OTHER);
      elapse(TTL);
      Evidence seenFirst = expired(request);
      ActivityStore.Hold mine =
          result(store().holdForProbe(ME, seenFirst, work(ActivityKind.QUERYABLE)));
      elapse(TTL);
      ActivityStore.Hold others =
          result(store().holdForProbe(OTHER, expired(request), work(ActivityKind.QUERYABLE)));
      assertThat(others.ticket().fence()).isGreaterThan(mine.ticket().fence());
      String before = stored(request.id());
      Receipt receipt =
          decision == RecoveryDecision.RECORD_COMPLETION ? Receipt.succeeded("found") : null;
      assertThat(probed(mine, decision, receipt, request.envelope())).as("" + decision).isFalse();
      assertThat(result(store().recover(ME, seenFirst, decision, request.envelope())))
          .as("" + decision)
          .isFalse();
      assertThat(result(store().holdForProbe(ME, seenFirst, work(ActivityKind.QUERYABLE))))
          .isNull();
      assertThat(stored(request.id())).as("" + decision).isEqualTo(before);
    }
  }

  @Test
  protected void anEffectThatWasTakenOverDoesNotBegin() {
    Claim.Ticket stale = takenOver(request(ActivityKind.EFFECT));
    String before = stored(stale.id());
    Throwable refused = failure(store().beginEffect(ME, HARD, stale, null));
    assertThat(FencepostException.is(refused, FailureKind.LEASE_LOST)).isTrue();
    assertThat(stored(stale.id())).isEqualTo(before);
  }

  @Test
  protected void oneThatIsTooLateTakesNoneOfItsGroupWithIt() {
    Claim.Ticket stale = takenOver(request());
    Claim.Ticket one = start(request());
    Claim.Ticket two = start(request());
    String before = stored(stale.id());
    List<Settlement> group =
        List.of(
            settlement(one, new Settlement.Completed(Receipt.succeeded())),
            settlement(stale, new Settlement.Completed(Receipt.succeeded())),
            settlement(two, again(failedTransiently(), Duration.ZERO, true)));
    assertThat(result(store().settle(ME, group))).containsExactly(true, false, true);
    assertThat(stored(stale.id())).isEqualTo(before);
    assertThat(seen(one.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(two.id()).state()).isEqualTo(ActivityState.RETRY_SCHEDULED);
  }
}
