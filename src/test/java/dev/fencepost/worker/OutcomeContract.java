package dev.fencepost.worker;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a store promises of starts that end otherwise. */
public abstract class OutcomeContract extends ClaimContract {
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
  protected void aReceiptThatCameBeforeIsStrongerThanAReviewAndNobodyIsToldOfOne() {
    Claim.Ticket ticket = start(request(ActivityKind.IRREVERSIBLE));
    assertThat(result(store().recordReceipt(ME, ticket, Receipt.succeeded("done")))).isTrue();
    assertThat(settle(ME, ticket, new Settlement.Review(AttemptOutcome.TIMED_OUT, ERROR))).isTrue();
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.COMPLETED);
    assertThat(seen(ticket.id()).audit()).doesNotContain("manual_review");
  }

  @Test
  protected void aReceiptThatSaysFailedOverrulesARetryAndItsDeadLetterIsToldOf() {
    Claim.Ticket ticket = start(request());
    result(store().recordReceipt(ME, ticket, Receipt.failedPermanently("gone")));
    assertThat(settle(ME, ticket, again(failedTransiently(), Duration.ZERO, true))).isTrue();
    assertThat(seen(ticket.id()).state()).isEqualTo(ActivityState.DEAD);
    assertThat(told())
        .containsExactly(new DeadLettered(ticket.id(), "t", permanent(), 1, ERROR_AS_TOLD));
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
          .isEqualTo(new Claim.Waiting(ActivityState.MANUAL_REVIEW, 0));
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
}
