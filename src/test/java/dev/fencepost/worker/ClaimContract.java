package dev.fencepost.worker;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a store promises of claims and of starts that end well or are tried again. */
public abstract class ClaimContract extends StoreWords {
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
    assertThat(claim(request)).isEqualTo(new Claim.Waiting(ActivityState.RETRY_SCHEDULED, 1));
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
}
