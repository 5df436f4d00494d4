package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each dead letter is logged and counted once, whichever way led to it; and so is each retry. */
class TellingTest {
  private static final Delivery.Envelope BROKEN =
      new Delivery.Envelope("x", "k", Map.of("type", "t"), Map.of(), new byte[] {1, 0}, null);

  private final Bench bench = new Bench();
  @RegisterExtension private final WorkerLines log = new WorkerLines();

  private List<String> lines(String word) {
    return log.events().stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.startsWith(word + " event="))
        .toList();
  }

  private void assertToldOnce(DeadLetterReason reason, String line) {
    assertThat(bench.store.deadLetters).hasSize(1);
    assertThat(lines("dead-letter")).containsExactly(line);
    assertThat(bench.events.reasons).containsExactly(reason);
    assertThat(bench.events.count(WorkerEvents.Outcome.DEAD_LETTERED)).isEqualTo(1);
  }

  private void startedElsewhere(String id) {
    Claim.Work work = new Claim.Work("t", ActivityKind.PURE, 1, 0, Duration.ofSeconds(30));
    bench.store.claim(
        "other",
        List.of(
            new Claim.Request(
                new ActivityId(Bench.QUEUE, id), work, null, false, Bench.message("t", id))));
  }

  @Test
  void ofATypeThatNobodyKnewForTooLong() {
    bench
        .deadLetterExchange("dead")
        .type("t", ActivityKind.PURE, c -> Bench.done())
        .start()
        .deliver("new", "e1");
    bench.advance(25 * 3_600_000L);
    assertToldOnce(
        DeadLetterReason.POISON_MESSAGE,
        "dead-letter event=e1 type=new queue=q reason=poison_message attempts=1"
            + " error=unknown_type: no worker knows the type new");
  }

  @Test
  void ofAnEventThatWaitedWhileItsLimitsWereLowered() {
    bench
        .type("t", ActivityKind.PURE, c -> Future.failedFuture(new TransientFailure("no")))
        .start()
        .deliver("t", "e1");
    bench.row("e1").attempts = 3; // by a configuration that allowed more
    bench.advance(6_000);
    assertToldOnce(
        DeadLetterReason.RETRIES_EXHAUSTED,
        "dead-letter event=e1 type=t queue=q reason=retries_exhausted attempts=3"
            + " error=TransientFailure: no");
    assertThat(bench.ran).hasSize(1);
  }

  @Test
  void ofALostRunWhoseStartsAreUsedUp() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    startedElsewhere("e1");
    bench.store.keepBody(new ActivityId(Bench.QUEUE, "e1"), Bench.message("t", "e1"));
    bench.advance(40_000);
    assertToldOnce(
        DeadLetterReason.RETRIES_EXHAUSTED,
        "dead-letter event=e1 type=t queue=q reason=retries_exhausted attempts=1"
            + " error=lease_lost: no outcome was reported");
  }

  @Test
  void ofALostRunThatHadToWaitForItsMessageOnlyOnceItIsThere() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    startedElsewhere("e1");
    bench.advance(40_000);
    assertThat(bench.row("e1").awaiting).isTrue();
    assertThat(lines("dead-letter")).as("there is none yet").isEmpty();
    assertThat(bench.events.reasons).isEmpty();
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.time.settle();
    assertToldOnce(
        DeadLetterReason.RETRIES_EXHAUSTED,
        "dead-letter event=e1 type=t queue=q reason=retries_exhausted attempts=1"
            + " error=lease_lost: no outcome was reported");
  }

  @Test
  void ofARunThatFailedForGood() {
    bench
        .type("t", ActivityKind.PURE, c -> Future.failedFuture(new PermanentFailure("never")))
        .start();
    bench.store.loseNextAnswerOf("settle");
    bench.deliver("t", "e1").advance(5_000);
    assertToldOnce(
        DeadLetterReason.PERMANENT_FAILURE,
        "dead-letter event=e1 type=t queue=q reason=permanent_failure attempts=1"
            + " error=PermanentFailure: never");
  }

  @Test
  void ofPoisonNotOfItsRedelivery() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    bench.broker.deliver(BROKEN);
    bench.broker.redeliver(BROKEN);
    bench.time.settle();
    assertThat(bench.store.deadLetters).hasSize(1);
    assertThat(lines("dead-letter")).hasSize(1);
    assertThat(bench.events.reasons).containsExactly(DeadLetterReason.POISON_MESSAGE);
    assertThat(bench.events.count(WorkerEvents.Outcome.DEAD_LETTERED)).isEqualTo(1);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isEqualTo(1);
    assertThat(bench.broker.acked).hasSize(2);
  }

  /** It changes nothing of the event, and there is no dead letter of it. */
  @Test
  void notOfPoisonUnderTheIdOfAnEventThatIsKnown() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start().deliver("t", "e1");
    bench.broker.deliver(
        new Delivery.Envelope(
            "x", "k", Map.of("message_id", "e1"), Map.of(), new byte[] {1}, null));
    bench.time.settle();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.store.deadLetters).isEmpty();
    assertThat(lines("dead-letter")).isEmpty();
    assertThat(bench.events.reasons).isEmpty();
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isEqualTo(1);
    assertThat(bench.broker.acked).hasSize(2);
  }

  @Test
  void ofPoisonWhoseAnswerWasLost() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    bench.store.loseNextAnswerOf("poison");
    bench.broker.deliver(BROKEN);
    bench.advance(5_000);
    assertThat(bench.store.deadLetters).hasSize(1);
    assertThat(bench.events.reasons).containsExactly(DeadLetterReason.POISON_MESSAGE);
    assertThat(bench.broker.acked).hasSize(1);
  }

  @Test
  void aRetryIsToldWhenItIsScheduled() {
    bench
        .type("t", ActivityKind.PURE, c -> Future.failedFuture(new TransientFailure("no")))
        .start()
        .deliver("t", "e1");
    assertThat(lines("retry"))
        .containsExactly(
            "retry event=e1 type=t queue=q retry=1/2 in=5s error=TransientFailure: no");
    assertThat(bench.events.retries).isEqualTo(1);
    bench.advance(60_000);
    assertThat(bench.ran).hasSize(3);
    assertThat(bench.events.retries).as("the third failure is the last").isEqualTo(2);
  }

  /** Nobody knows whether the run happened: no failure, and no retry used up. */
  @Test
  void aTimeOutIsNoRetry() {
    Promise<Receipt> never = Promise.promise();
    bench.type("t", ActivityKind.PURE, c -> never.future()).start().deliver("t", "e1");
    bench.advance(20_500);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(lines("retry")).isEmpty();
    assertThat(lines("unknown"))
        .containsExactly(
            "unknown event=e1 type=t queue=q attempt=1 fence=1 next=retry_same_activity in=5s"
                + " error=no_answer_by_hard_limit: no answer by the hard limit of 20s");
    assertThat(bench.events.retries).isZero();
    assertThat(bench.events.count(WorkerEvents.Outcome.RETRY_SCHEDULED)).isEqualTo(1);
    assertThat(bench.row("e1").retries).isZero();
  }
}
