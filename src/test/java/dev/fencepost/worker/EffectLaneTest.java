package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.DatabaseException;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EffectLaneTest {
  private final Bench bench = new Bench();

  /** An error of the server, as a handler's statement meets it. */
  private static final class Refused extends DatabaseException {
    Refused(String state) {
      super("refused", 0, state);
    }
  }

  private static Delivery.Envelope[] batch(int n) {
    return IntStream.range(0, n)
        .mapToObj(i -> Bench.message("t", "e" + i))
        .toArray(Delivery.Envelope[]::new);
  }

  @Test
  void manyShareOneTransactionAndAreAcknowledgedAfterItsCommit() {
    bench.effect("t", c -> Bench.done()).start();
    bench.store.delayAnswersOf("commit");
    bench.broker.deliver(batch(20));
    bench.time.settle();
    assertThat(bench.ran).hasSize(20);
    assertThat(bench.broker.acked).isEmpty();
    bench.store.releaseAnswers();
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(20);
    assertThat(bench.store.count("commit")).isEqualTo(1);
    assertThat(bench.store.count("claim")).isZero();
    assertThat(bench.events.starts).isEqualTo(20);
  }

  @Test
  void theOneThatFailsIsFoundAndItsNeighboursAreChargedNothing() {
    Map<String, Integer> calls = new HashMap<>();
    bench
        .effect(
            "t",
            c -> {
              int call = calls.merge(c.eventId(), 1, Integer::sum);
              if (c.eventId().equals("e2")) {
                return Future.failedFuture(new Refused("23505"));
              }
              boolean afterTheCulprit = call == 1 && c.eventId().compareTo("e2") > 0;
              return afterTheCulprit ? Future.failedFuture(new Refused("25P02")) : Bench.done();
            })
        .start();
    bench.broker.deliver(batch(5));
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(5);
    for (String id : new String[] {"e0", "e1", "e3", "e4"}) {
      assertThat(bench.row(id).state).isEqualTo(ActivityState.COMPLETED);
      assertThat(bench.row(id).attempts).isEqualTo(1);
    }
    assertThat(bench.row("e2").attempts).isEqualTo(1);
    assertThat(bench.store.deadLetters)
        .singleElement()
        .satisfies(
            dead -> {
              assertThat(dead.id().eventId()).isEqualTo("e2");
              assertThat(dead.reason()).isEqualTo(DeadLetterReason.PERMANENT_FAILURE);
            });
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(4);
  }

  @Test
  void severalCulpritsKeepTheirOwnOutcomes() {
    bench
        .effect(
            "t",
            c ->
                switch (c.eventId()) {
                  case "e1" -> Future.failedFuture(new TransientFailure("busy"));
                  case "e3" -> Future.failedFuture(new PermanentFailure("never"));
                  default -> Bench.done();
                })
        .start();
    bench.broker.deliver(batch(5));
    bench.time.settle();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.row("e1").retries).isEqualTo(1);
    assertThat(bench.row("e3").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("e0").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.broker.acked).hasSize(5);
  }

  @Test
  void aHiddenFailedStatementIsFoundThoughNobodyFailed() {
    bench.effect("t", c -> Bench.done()).start();
    bench.store.delayAnswersOf("beginEffects");
    bench.broker.deliver(batch(3));
    bench.time.settle();
    bench.store.failNext(
        new FencepostException(FailureKind.DATABASE_REFUSED, "the transaction had been aborted"));
    bench.store.releaseAnswers();
    bench.time.settle();
    assertThat(bench.broker.acked).as("each ran singly").hasSize(3);
    assertThat(bench.store.count("beginEffect")).isEqualTo(3);
  }

  @Test
  void aCommitWhoseAnswerWasLostAppliesTheEffectOnce() {
    bench.effect("t", c -> Bench.done()).start();
    bench.store.loseNextAnswerOf("commit");
    bench.broker.deliver(batch(3));
    bench.time.settle();
    assertThat(bench.broker.acked).isEmpty();
    bench.advance(1_000);
    assertThat(bench.broker.acked).hasSize(3);
    assertThat(bench.store.attempts).as("one commit each").hasSize(3);
    assertThat(bench.ran).as("no handler ran again").hasSize(3);
  }

  @Test
  void aRedeliveredEffectFirstGetsACommittedStart() {
    Promise<Receipt> run = Promise.promise();
    bench.effect("t", c -> run.future()).start();
    bench.broker.redeliver(Bench.message("t", "e1"));
    bench.time.settle();
    assertThat(bench.row("e1").attempts).as("counted before it runs").isEqualTo(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RUNNING);
    run.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.broker.acked).hasSize(1);
  }

  @Test
  void anOutageInAHandlerCostsNoAttempt() {
    Map<String, Integer> calls = new HashMap<>();
    bench
        .effect(
            "t",
            c ->
                calls.merge(c.eventId(), 1, Integer::sum) < 4
                    ? Future.failedFuture(new Refused("57P01"))
                    : Bench.done())
        .start();
    bench.broker.deliver(batch(2));
    bench.advance(5_000);
    assertThat(bench.row("e0").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e0").attempts).isEqualTo(1);
    assertThat(bench.row("e0").retries).isZero();
  }

  @Test
  void atTheHardLimitTheCulpritIsRolledBackAndItsOutcomeIsTransient() {
    Promise<Receipt> never = Promise.promise();
    bench.effect("t", c -> c.eventId().equals("e1") ? never.future() : Bench.done()).start();
    bench.broker.deliver(batch(3));
    bench.time.settle();
    assertThat(bench.broker.acked).isEmpty();
    bench.advance(20_100);
    assertThat(bench.broker.acked).as("the neighbours went again").hasSize(2);
    assertThat(bench.store.count("abandon")).isEqualTo(1);
    assertThat(bench.events.leaked).as("of what was rolled back nothing started").isZero();
    bench.advance(20_100);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
    assertThat(bench.store.attempts)
        .contains(
            new FakeActivityStore.Attempt(bench.row("e1").id, 1, "w1", AttemptOutcome.TIMED_OUT));
    assertThat(bench.events.leaked).as("one for its start").isEqualTo(1);
    never.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.events.leaked).isZero();
  }

  @Test
  void atOnePercentOfFailuresFewGroupsAreRolledBack() {
    bench
        .effect(
            "t",
            c ->
                Integer.parseInt(c.eventId().substring(1)) % 100 == 7
                    ? Future.failedFuture(new PermanentFailure("never"))
                    : Bench.done())
        .start();
    for (int i = 0; i < 3_000; i += 50) {
      int from = i;
      bench.broker.deliver(
          IntStream.range(from, from + 50)
              .mapToObj(n -> Bench.message("t", "e" + n))
              .toArray(Delivery.Envelope[]::new));
      bench.time.settle();
    }
    assertThat(bench.broker.acked).hasSize(3_000);
    assertThat(bench.store.deadLetters).hasSize(30);
    assertThat(bench.ran.size()).as("invocations, wasted ones included").isLessThan(4_200);
  }

  @Test
  void whereFailuresAreAboutOnlyThePartOfTheCulpritIsUndone() {
    bench
        .effect(
            "t",
            c ->
                c.eventId().equals("e0") || c.eventId().equals("f40")
                    ? Future.failedFuture(new PermanentFailure("never"))
                    : Bench.done())
        .start();
    bench.broker.deliver(batch(2)); // the first failure makes the lane careful
    bench.time.settle();
    bench.ran.clear();
    bench.broker.deliver(
        IntStream.range(0, 60)
            .mapToObj(n -> Bench.message("t", "f" + n))
            .toArray(Delivery.Envelope[]::new));
    bench.time.settle();
    assertThat(bench.store.count("rollbackToSavepoint")).isEqualTo(1);
    assertThat(bench.broker.acked).hasSize(62);
    assertThat(bench.store.deadLetters).hasSize(2);
    assertThat(bench.ran.stream().filter("f0"::equals)).as("its part stood").hasSize(1);
    assertThat(bench.ran.stream().filter("f40"::equals)).as("in the group, and alone").hasSize(2);
    assertThat(bench.row("f59").attempts).isEqualTo(1);
  }

  @Test
  void aCommitWhoseAnswerWasLostIsCountedAsWhatItWas() {
    bench.effect("t", c -> Bench.done()).start();
    bench.store.loseNextAnswerOf("commit");
    bench.broker.deliver(batch(3));
    bench.advance(1_000);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(3);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isZero();
    assertThat(bench.events.starts).isEqualTo(3);
    bench.store.loseNextAnswerOf("commit");
    bench.broker.redeliver(Bench.message("t", "single"));
    bench.advance(1_000);
    assertThat(bench.events.leasesLost).as("nobody has taken it over").isZero();
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(4);
    assertThat(bench.events.starts).isEqualTo(4);
    assertThat(bench.broker.acked).hasSize(4);
  }
}
