package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.vertx.sqlclient.DatabaseException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
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

  /** Each takes a second and may take twenty; the server does one after the other. */
  @Test
  void manyThatAreSlowTogetherAreChargedNothing() {
    Deque<Run> runs = new ArrayDeque<>();
    Map<Run, Promise<Receipt>> results = new HashMap<>();
    bench
        .effect(
            "t",
            c -> {
              runs.add((Run) c);
              return results.computeIfAbsent((Run) c, run -> Promise.promise()).future();
            })
        .start();
    bench.broker.deliver(batch(60));
    bench.time.settle();
    int seconds = 0;
    while (bench.broker.acked.size() < 60 && seconds < 200) {
      runs.removeIf(run -> run.state() != Run.State.OPEN); // rolled back with its transaction
      if (!runs.isEmpty()) {
        results.get(runs.remove()).complete(Receipt.succeeded());
      }
      bench.advance(1_000);
      seconds++;
    }
    assertThat(seconds).as("what is undone is undone once").isLessThan(90);
    assertThat(bench.store.attempts)
        .as("nobody was timed out")
        .hasSize(60)
        .allMatch(attempt -> attempt.outcome() == AttemptOutcome.SUCCEEDED);
    assertThat(bench.store.count("claim")).isZero();
    assertThat(bench.store.count("abandon")).isEqualTo(1);
    assertThat(bench.events.starts).isEqualTo(60);
  }

  @Test
  void groupsAreLargeAgainOnceTheyAreQuick() {
    Deque<Promise<Receipt>> slow = new ArrayDeque<>();
    bench
        .effect(
            "t",
            c -> {
              if (!c.eventId().startsWith("slow")) {
                return Bench.done();
              }
              slow.add(Promise.promise());
              return slow.getLast().future();
            })
        .start();
    bench.broker.deliver(batch("slow", 0, 4));
    bench.time.settle();
    bench.advance(15_000);
    slow.forEach(each -> each.complete(Receipt.succeeded()));
    bench.time.settle();
    long before = bench.store.count("commit");
    bench.broker.deliver(batch("quick", 0, 64));
    bench.time.settle();
    assertThat(bench.store.count("commit") - before).as("2, 2, 4, 8, 16 and 32").isBetween(5L, 8L);
    assertThat(bench.broker.acked).hasSize(68);
  }

  /** What a transaction costs is shared by as many as may run at once. */
  @Test
  void aGroupIsAsLargeAsConcurrencyAllows() {
    BoundHandler handler = new BoundHandler.Effect((context, transaction) -> Bench.done());
    bench.type("t", ActivityKind.EFFECT, 2_000, Bench.Times.DEFAULT, handler);
    bench.prefetch(4_000).concurrency(2_000).start();
    bench.broker.deliver(batch(2_000));
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(2_000);
    assertThat(bench.store.count("commit")).isEqualTo(2);
  }

  /** As where the other types of the process hold all connections. */
  @Test
  void waitingForAConnectionMakesNoGroupSmaller() {
    bench.effect("t", c -> Bench.done()).start();
    bench.store.delayAnswersOf("beginEffects");
    bench.broker.deliver(batch(256));
    for (int waits = 0; waits < 60 && bench.broker.acked.size() < 256; waits++) {
      bench.advance(12_000);
      bench.store.releaseAnswers();
      bench.store.delayAnswersOf("beginEffects");
      bench.time.settle();
    }
    assertThat(bench.broker.acked).hasSize(256);
    assertThat(bench.store.count("commit")).isLessThanOrEqualTo(8);
  }

  /** Several at a time that end so many seconds after they began. */
  private void withRunsOf(Map<String, Integer> seconds) {
    bench
        .effect(
            "t",
            c -> {
              Promise<Receipt> result = Promise.promise();
              int of = seconds.get(c.eventId().replaceAll("[0-9]", ""));
              bench.time.after(
                  Duration.ofSeconds(of), () -> result.tryComplete(Receipt.succeeded()));
              return result.future();
            })
        .start();
  }

  @Test
  void aLoneSlowEffectMakesNoGroupSmaller() {
    withRunsOf(Map.of("lone", 11, "many", 3));
    bench.deliver("t", "lone1").advance(12_000);
    assertThat(bench.broker.acked).hasSize(1);
    bench.broker.deliver(batch("many", 0, 256));
    bench.advance(60_000);
    assertThat(bench.broker.acked).hasSize(257);
    assertThat(bench.store.count("commit")).isLessThanOrEqualTo(9);
  }

  @Test
  void groupsThatTakeAThirdOfTheirTimeGrowAgain() {
    withRunsOf(Map.of("slow", 15, "fair", 6));
    bench.broker.deliver(batch("slow", 0, 4));
    bench.advance(16_000);
    long before = bench.store.count("commit");
    bench.broker.deliver(batch("fair", 0, 64));
    bench.advance(300_000);
    assertThat(bench.broker.acked).hasSize(68);
    assertThat(bench.store.count("commit") - before).as("2, 2, 3, 4, 5 and so on").isLessThan(16);
  }

  /** Even where one alone has returned: otherwise the same would be undone for ever. */
  @Test
  void aGroupOfWhichOneReturnedInTimeGoesAgainInSmallerOnes() {
    Deque<Promise<Receipt>> first = new ArrayDeque<>();
    bench
        .effect(
            "t",
            c -> {
              if (first.size() == 4) {
                return Bench.done();
              }
              first.add(Promise.promise());
              return first.getLast().future();
            })
        .start();
    bench.broker.deliver(batch(4));
    bench.advance(15_000);
    first.getFirst().complete(Receipt.succeeded());
    bench.advance(5_100);
    assertThat(bench.store.count("abandon")).isEqualTo(1);
    assertThat(bench.broker.acked).hasSize(4);
    assertThat(bench.store.count("commit")).as("one by one").isEqualTo(4);
    assertThat(bench.store.count("claim")).isZero();
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

  private static Delivery.Envelope[] batch(String prefix, int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(n -> Bench.message("t", prefix + n))
        .toArray(Delivery.Envelope[]::new);
  }

  private long runs(String id) {
    return bench.ran.stream().filter(id::equals).count();
  }

  /** An outcome that comes after the handler has returned its future, as the database's do. */
  private Future<Receipt> later(Future<Receipt> outcome) {
    Promise<Receipt> promise = Promise.promise();
    bench.time.execute(() -> outcome.onComplete(promise));
    return promise.future();
  }

  private static Future<Receipt> never() {
    return Future.failedFuture(new PermanentFailure("never"));
  }

  /** The first failure makes the lane careful. */
  private void careful() {
    bench.deliver("t", "careful");
    assertThat(bench.row("careful").state).isEqualTo(ActivityState.DEAD);
    bench.ran.clear();
    bench.store.calls.clear();
  }

  @Test
  void whereFailuresAreAboutOnlyThePartOfTheCulpritIsUndone() {
    bench
        .effect("t", c -> c.eventId().matches("careful|f40") ? later(never()) : later(Bench.done()))
        .start();
    careful();
    bench.broker.deliver(batch("f", 0, 60));
    bench.time.settle();
    assertThat(bench.store.count("rollbackToSavepoint")).as("its part, and alone").isEqualTo(2);
    assertThat(bench.broker.acked).hasSize(61);
    assertThat(bench.store.deadLetters).hasSize(2);
    assertThat(runs("f0")).as("its part stood").isEqualTo(1);
    assertThat(runs("f40")).as("in the group, and apart").isEqualTo(2);
    assertThat(bench.row("f59").attempts).isEqualTo(1);
    assertThat(bench.row("f40").attempts).isEqualTo(1);
    assertThat(bench.store.count("claim")).isZero();
    assertThat(bench.events.starts).isEqualTo(61);
  }

  @Test
  void whoFailsBeforeAnyAnswerOfTheDatabaseDiesWithItsGroup() {
    bench
        .effect("t", c -> c.eventId().matches("careful|f[57]") ? never() : later(Bench.done()))
        .start();
    careful();
    bench.broker.deliver(batch("f", 0, 60));
    bench.time.settle();
    assertThat(runs("f5")).isEqualTo(1);
    assertThat(runs("f4")).as("undone with it").isGreaterThan(1);
    assertThat(runs("f8")).as("behind it, nobody was invoked").isEqualTo(1);
    assertThat(bench.store.count("beginEffects")).isEqualTo(1);
    assertThat(bench.store.count("commit")).isEqualTo(1);
    assertThat(bench.store.deadLetters)
        .extracting(dead -> dead.id().eventId() + " " + dead.attempts())
        .containsExactly("careful 1", "f5 1", "f7 1");
    assertThat(bench.events.count(WorkerEvents.Outcome.DEAD_LETTERED)).isEqualTo(3);
    assertThat(bench.broker.acked).hasSize(61);
  }

  @Test
  void thoseWhoRunApartAreAloneInWhatTheySee() {
    Map<String, Integer> calls = new HashMap<>();
    bench
        .effect(
            "t",
            c -> {
              boolean culprit = c.eventId().matches("careful|f[2-4]");
              boolean again = calls.merge(c.eventId(), 1, Integer::sum) > 1;
              boolean better = again && c.eventId().equals("f3");
              return later(culprit && !better ? never() : Bench.done());
            })
        .start();
    careful();
    bench.broker.deliver(batch("f", 0, 6));
    bench.time.settle();
    assertThat(bench.row("f2").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("f3").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("f4").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.store.count("beginEffects"))
        .as("nobody runs behind the one that left something")
        .isEqualTo(3);
    assertThat(bench.store.attempts).hasSize(7);
    assertThat(bench.broker.acked).hasSize(7);
  }

  @Test
  void whoFailsOtherwiseIsClaimedAndHasARetry() {
    Map<String, Integer> calls = new HashMap<>();
    bench
        .effect(
            "t",
            c -> {
              int call = calls.merge(c.eventId(), 1, Integer::sum);
              return switch (c.eventId()) {
                case "careful" -> never();
                case "f1" -> later(Future.failedFuture(new TransientFailure("busy")));
                case "f2" -> later(call == 1 ? never() : Future.failedFuture(new Refused("40P01")));
                default -> later(Bench.done());
              };
            })
        .start();
    careful();
    bench.broker.deliver(batch("f", 0, 4));
    bench.time.settle();
    for (String id : new String[] {"f1", "f2"}) {
      assertThat(bench.row(id).state).isEqualTo(ActivityState.RETRY_SCHEDULED);
      assertThat(bench.row(id).attempts).isEqualTo(1);
      assertThat(bench.row(id).retries).isEqualTo(1);
    }
    assertThat(calls.get("f1")).as("in the group, and counted").isEqualTo(2);
    assertThat(bench.row("f3").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void whatCameFromAnAbortedTransactionIsNoOutcome() {
    bench
        .effect(
            "t",
            c -> {
              boolean alone = bench.store.count("beginEffect") > 0;
              boolean well = alone || !c.eventId().equals("f2");
              return c.eventId().equals("careful")
                  ? never()
                  : later(well ? Bench.done() : Future.failedFuture(new Refused("25P02")));
            })
        .start();
    careful();
    bench.broker.deliver(batch("f", 2, 3));
    bench.time.settle();
    assertThat(bench.row("f2").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.store.count("beginEffect")).isEqualTo(1);
  }

  @Test
  void whereASavepointIsMissingNothingIsCommitted() {
    bench
        .effect("t", c -> c.eventId().matches("careful|f3") ? never() : later(Bench.done()))
        .start();
    careful();
    bench.store.delayAnswersOf("beginEffects");
    bench.broker.deliver(batch("f", 0, 40));
    bench.time.settle();
    bench.store.failNextOf("savepoint", new Refused("25P02"));
    bench.store.releaseAnswers();
    bench.time.settle();
    assertThat(bench.broker.acked).hasSize(41);
    assertThat(bench.store.count("beginEffect")).as("each shows its own outcome").isEqualTo(40);
  }

  @Test
  void aDeathWhoseAnswerWasLostIsCountedAsWhatItWas() {
    bench
        .effect("t", c -> c.eventId().matches("careful|f1") ? never() : later(Bench.done()))
        .start();
    careful();
    bench.store.loseNextAnswerOf("commit");
    bench.broker.deliver(batch("f", 0, 3));
    bench.advance(1_000);
    assertThat(bench.broker.acked).hasSize(4);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(2);
    assertThat(bench.events.count(WorkerEvents.Outcome.DEAD_LETTERED)).isEqualTo(2);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isZero();
    assertThat(bench.store.deadLetters).hasSize(2);
  }

  @Test
  void whoHangsApartHoldsNobodyUpForLong() {
    Promise<Receipt> hangs = Promise.promise();
    Map<String, Integer> calls = new HashMap<>();
    bench
        .effect(
            "t",
            c -> {
              boolean again = calls.merge(c.eventId(), 1, Integer::sum) > 1;
              boolean culprit = c.eventId().matches("careful|f[12]");
              return again && c.eventId().equals("f1")
                  ? hangs.future()
                  : later(culprit ? never() : Bench.done());
            })
        .start();
    careful();
    bench.broker.deliver(batch("f", 0, 3));
    bench.time.settle();
    bench.advance(20_100);
    assertThat(bench.row("f2").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.row("f2").attempts).isEqualTo(1);
    assertThat(bench.row("f1").state).as("claimed").isEqualTo(ActivityState.RUNNING);
    bench.advance(20_100);
    assertThat(bench.row("f1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.events.leaked).as("one for its start").isEqualTo(1);
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

  @Test
  void aFaultOfOursLeavesNoTransactionOpen() {
    bench.effect("t", c -> c.eventId().equals("careful") ? never() : later(Bench.done())).start();
    careful();
    bench.store.faulty = "savepoint";
    bench.broker.deliver(batch("f", 0, 3));
    bench.time.settle();
    assertThat(bench.store.count("abandon")).isEqualTo(1);
    assertThat(bench.store.count("beginEffect")).as("each by itself").isEqualTo(3);
    assertThat(bench.broker.acked).hasSize(4);
  }

  @Test
  void aCommitThatDoesNotComeAboutEndsItsTransaction() {
    bench
        .effect("t", c -> c.eventId().matches("careful|f1") ? never() : later(Bench.done()))
        .start();
    careful();
    bench.store.failNextOf("fail", new Refused("23514"));
    bench.broker.deliver(batch("f", 0, 3));
    bench.time.settle();
    assertThat(bench.store.count("rollback")).as("the group's, and that of f1").isEqualTo(2);
    assertThat(bench.store.count("commit")).as("f0 and f2, singly").isEqualTo(2);
    assertThat(bench.broker.acked).hasSize(4);
  }

  @Test
  void whatTheJdkHasWrappedIsWhatItIs() {
    bench
        .effect(
            "t",
            c -> {
              Throwable busy = new CompletionException(new TransientFailure("busy"));
              return later(c.attempt() == 1 ? Future.failedFuture(busy) : Bench.done());
            })
        .start();
    bench.broker.deliver(batch(1));
    bench.time.settle();
    assertThat(bench.row("e0").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    bench.advance(10_000);
    assertThat(bench.row("e0").state).isEqualTo(ActivityState.COMPLETED);
  }
}
