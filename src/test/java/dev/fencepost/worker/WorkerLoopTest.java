package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WorkerLoopTest {
  private final Bench bench = new Bench();

  @Test
  void runsAMessageOnceAndAcknowledgesItAfterTheOutcomeIsDurable() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    bench.store.delayAnswersOf("settle");
    bench.deliver("t", "e1");
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.broker.acked).isEmpty();
    bench.store.releaseAnswers();
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(1);
  }

  @Test
  void groupsWhatPilesUpIntoOneStatementEach() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    Delivery.Envelope[] batch =
        IntStream.range(0, 30)
            .mapToObj(i -> Bench.message("t", "e" + i))
            .toArray(Delivery.Envelope[]::new);
    bench.broker.deliver(batch);
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(30);
    assertThat(bench.store.count("claim")).isEqualTo(1);
    assertThat(bench.store.count("settle")).isEqualTo(1);
  }

  @Test
  void whatIsStoredBehindItsKeyIsNoDuplicateAndASecondDeliveryOfItIs() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c ->
                c.eventId().equals("e1") && c.attempt() == 1
                    ? Future.failedFuture(new TransientFailure("not yet"))
                    : Bench.done())
        .ordered()
        .start();
    bench.broker.deliver(Bench.message("t", "e1", "k"), Bench.message("t", "e2", "k"));
    bench.time.settle();
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.BLOCKED);
    assertThat(bench.broker.acked).hasSize(2);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isZero();
    bench.broker.redeliver(Bench.message("t", "e2", "k"));
    bench.time.settle();
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isEqualTo(1);
    bench.advance(10_000);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(2);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isEqualTo(1);
  }

  @Test
  void whatWaitedBehindARetryFollowsAtOnceAndNotByTheSecond() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c ->
                c.eventId().equals("e0") && c.attempt() == 1
                    ? Future.failedFuture(new TransientFailure("not yet"))
                    : Bench.done())
        .ordered()
        .start();
    List<String> all = IntStream.range(0, 20).mapToObj(i -> "e" + i).toList();
    all.forEach(id -> bench.broker.deliver(Bench.message("t", id, "k")));
    bench.advance(4_900);
    assertThat(bench.ran).containsExactly("e0");
    bench.ran.clear();
    bench.advance(200); // its delay has passed
    assertThat(bench.ran).containsExactlyElementsOf(all);
  }

  @Test
  void aDuplicateIsAcknowledgedAndNotRun() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start().deliver("t", "e1");
    bench.deliver("t", "e1");
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.broker.acked).hasSize(2);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isEqualTo(1);
  }

  @Test
  void aSecondDeliveryWaitsForTheRunOfTheFirst() {
    Promise<Receipt> run = Promise.promise();
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> run.future()).start();
    bench.deliver("t", "e1").deliver("t", "e1");
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.broker.acked).isEmpty();
    run.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(2);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  @Test
  void transientFailuresWaitInTheDatabaseAndEndAsOneDeadLetter() {
    bench
        .type("t", ActivityKind.IDEMPOTENT, c -> Future.failedFuture(new TransientFailure("no")))
        .start()
        .deliver("t", "e1");
    assertThat(bench.broker.acked).as("acknowledged, the delay is the database's").hasSize(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    bench.advance(4_900);
    assertThat(bench.ran).hasSize(1);
    bench.advance(300);
    assertThat(bench.ran).as("after 5 s").hasSize(2);
    bench.advance(10_300);
    assertThat(bench.ran).as("after 10 s more").hasSize(3);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.store.deadLetters)
        .singleElement()
        .satisfies(
            dead -> {
              assertThat(dead.reason()).isEqualTo(DeadLetterReason.RETRIES_EXHAUSTED);
              assertThat(dead.attempts()).isEqualTo(3);
              assertThat(dead.message().body()).isEqualTo("{}".getBytes());
            });
    bench.advance(3_600_000);
    assertThat(bench.ran).hasSize(3);
  }

  @Test
  void aRetryHasItsKeyWhetherOrNotItsOrderIsKept() {
    List<String> keys = new ArrayList<>();
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c -> {
              keys.add(c.key());
              return Future.failedFuture(new TransientFailure("no"));
            })
        .start();
    bench.broker.deliver(Bench.message("t", "e1", "k"));
    bench.advance(60_000);
    assertThat(keys).containsExactly("k", "k", "k");
    assertThat(bench.row("e1").key).isNull();
  }

  @Test
  void aFailureMayAskForALongerWait() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c -> Future.failedFuture(new TransientFailure("later", Duration.ofSeconds(40), null)))
        .start()
        .deliver("t", "e1");
    bench.advance(39_000);
    assertThat(bench.ran).hasSize(1);
    bench.advance(1_200);
    assertThat(bench.ran).hasSize(2);
  }

  @Test
  void whatAStageOfTheJdkHasWrappedIsClassifiedAsWhatItIs() {
    Throwable later = new TransientFailure("later", Duration.ofSeconds(40), null);
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            c ->
                Future.fromCompletionStage(
                    CompletableFuture.<Receipt>failedFuture(later).thenApply(done -> done)))
        .start()
        .deliver("t", "e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    bench.advance(30_000);
    assertThat(bench.ran).as("it asked for 40 s").hasSize(1);
    bench.advance(15_000);
    assertThat(bench.ran).hasSize(2);
  }

  /** A transient failure that cannot say how long to wait. */
  private static final class Broken extends TransientFailure {
    private static final long serialVersionUID = 1L;
    private final boolean fails;

    Broken(boolean fails) {
      super("busy");
      this.fails = fails;
    }

    @Override
    @SuppressWarnings("NullOptional") // as handlers do
    public Optional<Duration> after() {
      if (fails) {
        throw new IllegalStateException("no clock");
      }
      return null;
    }
  }

  @ParameterizedTest
  @EnumSource(ActivityKind.class)
  void aFailureThatCannotSayWhenIsTransientAllTheSame(ActivityKind kind) {
    Function<ActivityContext, Future<Receipt>> handler =
        c ->
            c.attempt() > 1
                ? Bench.done()
                : Future.failedFuture(new Broken(c.eventId().equals("throws")));
    if (kind == ActivityKind.EFFECT) {
      bench.effect("t", handler);
    } else {
      bench.type("t", kind, handler);
    }
    bench.start().deliver("t", "throws", "null");
    for (String id : List.of("throws", "null")) {
      assertThat(bench.row(id).state).as(id).isEqualTo(ActivityState.RETRY_SCHEDULED);
      assertThat(bench.row(id).retries).as(id).isEqualTo(1);
    }
    bench.advance(10_000);
    for (String id : List.of("throws", "null")) {
      assertThat(bench.row(id).state).as(id).isEqualTo(ActivityState.COMPLETED);
    }
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void aPermanentFailureIsDeadAtOnceWithACopyAfterTheCommit() {
    bench
        .deadLetterExchange("dead")
        .type("t", ActivityKind.IDEMPOTENT, c -> Future.failedFuture(new PermanentFailure("never")))
        .start();
    bench.store.delayAnswersOf("settle");
    bench.deliver("t", "e1");
    assertThat(bench.broker.copies).isEmpty();
    bench.store.releaseAnswers();
    bench.advance(10);
    assertThat(bench.store.deadLetters).hasSize(1);
    assertThat(bench.broker.copies).singleElement().extracting("exchange").isEqualTo("dead");
    assertThat(bench.broker.acked).hasSize(1);
  }

  @Test
  void survivesHandlersThatThrowReturnNullOrNullInside() {
    bench
        .type(
            "throws",
            ActivityKind.PURE,
            c -> {
              throw new NoClassDefFoundError("odd");
            })
        .type("null", ActivityKind.PURE, c -> null)
        .type("inside", ActivityKind.PURE, c -> Future.succeededFuture(null))
        .type("unsafe", ActivityKind.IRREVERSIBLE, c -> null)
        .start()
        .deliver("throws", "e1")
        .deliver("null", "e2")
        .deliver("inside", "e3")
        .deliver("unsafe", "e4");
    assertThat(bench.broker.acked).hasSize(4);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("e3").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("e4").state)
        .as("nobody knows whether it happened")
        .isEqualTo(ActivityState.MANUAL_REVIEW);
  }

  @Test
  void poisonIsDeadOnceHoweverOftenItComes() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    Delivery.Envelope broken =
        new Delivery.Envelope("x", "k", Map.of("type", "t"), Map.of(), new byte[] {1, 0}, null);
    bench.broker.deliver(broken);
    bench.broker.redeliver(broken);
    bench.deliver("t", "e1");
    assertThat(bench.store.deadLetters)
        .singleElement()
        .satisfies(d -> assertThat(d.message().body()).containsExactly(1, 0));
    assertThat(bench.broker.acked).hasSize(3);
    assertThat(bench.ran).containsExactly("e1");
  }

  @Test
  void unknownTypesAreKeptAndRunOnceTheyAreKnown() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start().deliver("new", "e1");
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.UNRESOLVED);
    bench.advance(3_600_000L);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.UNRESOLVED);
    bench.owner = "a newer worker";
    bench.type("new", ActivityKind.PURE, c -> Bench.done()).start().advance(10_000);
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
    assertThat(bench.store.deadLetters).isEmpty();
  }

  @Test
  void aTypeThatNobodyKnowsForADayIsPoison() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start().deliver("new", "e1");
    bench.advance(23 * 3_600_000L);
    assertThat(bench.store.deadLetters).isEmpty();
    bench.advance(2 * 3_600_000L);
    assertThat(bench.store.deadLetters)
        .singleElement()
        .extracting("reason")
        .isEqualTo(DeadLetterReason.POISON_MESSAGE);
  }

  @Test
  void anOutageAcknowledgesNothingAndCostsNoAttempt() {
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> Bench.done()).start();
    for (int i = 0; i < 5; i++) {
      bench.store.failNext(new FencepostException(FailureKind.DATABASE_UNREACHABLE, "down"));
    }
    bench.deliver("t", "e1");
    assertThat(bench.broker.acked).isEmpty();
    bench.advance(10_000);
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  @Test
  void aClaimWhoseAnswerWasLostIsTakenUpAgain() {
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> Bench.done()).start();
    bench.store.loseNextAnswerOf("claim");
    bench.deliver("t", "e1").advance(1_000);
    assertThat(bench.ran).containsExactly("e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
  }

  @Test
  void aDueClaimWhoseAnswerWasLostGivesItsStartBack() {
    List<Integer> attempts = new ArrayList<>();
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            c -> {
              attempts.add(c.attempt());
              return c.attempt() == 1
                  ? Future.failedFuture(new TransientFailure("no"))
                  : Bench.done();
            })
        .start()
        .deliver("t", "e1")
        .advance(4_000);
    bench.store.loseNextAnswerOf("claimDue");
    bench.advance(2_000);
    bench.advance(60_000);
    assertThat(attempts).containsExactly(1, 2);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aSettlementWhoseAnswerWasLostIsNotTakenForALostLease() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    bench.store.loseNextAnswerOf("settle");
    bench.deliver("t", "e1").advance(1_000);
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.events.leasesLost).isZero();
    assertThat(bench.store.attempts).hasSize(1);
  }

  @Test
  void aRefusedItemIsSplitFromItsGroupAndItsNeighboursGoOn() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    for (int i = 0; i < 3; i++) { // the group of 4, its first half, its first quarter
      bench.store.failNext(new FencepostException(FailureKind.DATABASE_REFUSED, "bad row"));
    }
    bench.broker.deliver(
        Bench.message("t", "e1"),
        Bench.message("t", "e2"),
        Bench.message("t", "e3"),
        Bench.message("t", "e4"));
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(4);
    assertThat(bench.ran).containsExactly("e2", "e3", "e4");
    assertThat(bench.store.deadLetters).singleElement().extracting("id.eventId").isEqualTo("e1");
  }

  @Test
  void aDroppedChannelLeadsToNoSecondRun() {
    Promise<Receipt> run = Promise.promise();
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> run.future()).start().deliver("t", "e1");
    bench.broker.dropChannel();
    bench.time.settle();
    assertThat(bench.ran).hasSize(1);
    run.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.broker.stale).as("the ack of the old channel").isEqualTo(1);
    assertThat(bench.broker.acked).as("the redelivered copy").hasSize(1);
    assertThat(bench.ran).hasSize(1);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void oneTypeNeverWaitsForAnother() {
    bench
        .type(
            "stuck",
            ActivityKind.PURE,
            2,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(c -> Promise.<Receipt>promise().future()))
        .type("quick", ActivityKind.PURE, c -> Bench.done())
        .start();
    for (int i = 0; i < 10; i++) {
      bench.deliver("stuck", "s" + i).deliver("quick", "q" + i);
    }
    assertThat(bench.ran).hasSize(10);
    assertThat(bench.events.inFlight.get("stuck")).isEqualTo(2);
  }

  @Test
  void lostAttemptsAreKept() {
    bench.type("t", ActivityKind.PURE, c -> Future.failedFuture(new TransientFailure("no")));
    bench.start().deliver("t", "e1").advance(20_000);
    assertThat(bench.store.attempts)
        .extracting(FakeActivityStore.Attempt::outcome)
        .containsExactly(
            AttemptOutcome.TRANSIENT_FAILURE,
            AttemptOutcome.TRANSIENT_FAILURE,
            AttemptOutcome.TRANSIENT_FAILURE);
  }

  @Test
  void anOutcomeThatCannotBeStoredFreesItsSlotAndIsNeverTakenForAStartThatDidNotRun() {
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            1,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(bench.recording(c -> Bench.done())))
        .start();
    bench.store.refused = "settle";
    bench.deliver("t", "e1").advance(1_000);
    assertThat(bench.store.count("settle")).as("as it is, and as a review").isEqualTo(2);
    bench.store.refused = null;
    bench.deliver("t", "e2").advance(1_000);
    assertThat(bench.ran).as("its slot is free").containsExactly("e1", "e2");
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.advance(60_000);
    assertThat(bench.ran).as("never called twice").containsExactly("e1", "e2");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.broker.unacked).isEmpty();
  }
}
