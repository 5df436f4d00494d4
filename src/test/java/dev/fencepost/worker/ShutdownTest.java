package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shutdown, gates, budgets, order by key. */
class ShutdownTest {
  private final Bench bench = new Bench();

  @Test
  void waitsForWhatRunsAndAcknowledgesIt() {
    Promise<Receipt> run = Promise.promise();
    bench.type("t", ActivityKind.IRREVERSIBLE, c -> run.future()).start().deliver("t", "e1");
    Future<Void> stopped = bench.worker.stop();
    bench.advance(5_000);
    assertThat(bench.broker.stopped).isTrue();
    assertThat(stopped.isComplete()).isFalse();
    run.complete(Receipt.succeeded());
    bench.advance(1_000);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void renewalsStopLast() {
    Bench.Times times =
        new Bench.Times(
            Duration.ofSeconds(3), Duration.ofSeconds(50), Duration.ofSeconds(60), null);
    bench
        .type(
            "t",
            ActivityKind.PURE,
            4,
            times,
            new BoundHandler.Async(c -> Promise.<Receipt>promise().future()))
        .start()
        .deliver("t", "e1");
    bench.worker.stop();
    bench.advance(29_000);
    assertThat(bench.store.count("renew")).as("every second").isGreaterThan(25);
    assertThat(bench.row("e1").fence).isEqualTo(1);
  }

  @Test
  void whatTheDeadlineFindsRunningIsSettledByItsKind() {
    Bench.Times times =
        new Bench.Times(Duration.ofSeconds(30), Duration.ofMinutes(2), Duration.ofMinutes(3), null);
    List<ActivityKind> kinds =
        List.of(ActivityKind.PURE, ActivityKind.QUERYABLE, ActivityKind.IRREVERSIBLE);
    for (ActivityKind kind : kinds) {
      BoundHandler hangs = new BoundHandler.Async(c -> Promise.<Receipt>promise().future());
      bench.type(kind.wire(), kind, 4, times, hangs);
    }
    bench.start();
    kinds.forEach(kind -> bench.deliver(kind.wire(), kind.wire()));
    Future<Void> stopped = bench.worker.stop();
    bench.advance(29_000);
    assertThat(bench.row("irreversible").state).isEqualTo(ActivityState.RUNNING);
    bench.advance(3_000);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(bench.row("irreversible").state).isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(bench.row("queryable").state).isEqualTo(ActivityState.RUNNING);
    assertThat(bench.row("queryable").open).as("left to the sweep and its probe").isFalse();
    assertThat(bench.row("pure").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.broker.acked).hasSize(3);
  }

  @Test
  void interruptedWorkIsDueAtOnceAndUsesUpNoAttempt() {
    Bench.Times times =
        new Bench.Times(Duration.ofSeconds(30), Duration.ofMinutes(2), Duration.ofMinutes(3), null);
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            4,
            times,
            new BoundHandler.Async(c -> Promise.<Receipt>promise().future()))
        .start()
        .deliver("t", "e1");
    Future<Void> stopped = bench.worker.stop();
    bench.advance(31_000);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.row("e1").attempts).isZero();
    assertThat(bench.row("e1").retries).isZero();
    assertThat(bench.broker.acked).as("kept in the row").hasSize(1);
  }

  @Test
  void nothingIsStartedWhileTheLoopLags() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    bench.advance(1_000);
    bench.time.sleepThrough(Duration.ofSeconds(30)); // a blocked loop
    bench.advance(0);
    bench.deliver("t", "e1");
    assertThat(bench.ran).isEmpty();
    bench.advance(300);
    assertThat(bench.ran).containsExactly("e1");
  }

  @Test
  void blockingHandlersAreInterruptedAtTheHardLimit() throws Exception {
    Bench.Times times =
        new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofSeconds(2), null);
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch mayReturn = new CountDownLatch(1);
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            8,
            times,
            new BoundHandler.Blocking(
                c -> {
                  running.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    interrupted.countDown();
                    mayReturn.await(); // the test still looks at its slot
                    throw e;
                  }
                  return Receipt.succeeded();
                }))
        .start()
        .deliver("t", "e1");
    Thread thread = bench.threadForOne();
    assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
    bench.advance(1_900);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.RUNNING);
    assertThat(interrupted.getCount()).as("not before its limit").isEqualTo(1);
    bench.advance(200);
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(bench.events.leaked).as("until it has returned").isEqualTo(1);
    mayReturn.countDown();
    thread.join(30_000);
    bench.time.settle();
    assertThat(bench.events.leaked).isZero();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.MANUAL_REVIEW);
  }

  @Test
  void blockingHandlersRunOnThreads() {
    Bench.Times times =
        new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofSeconds(2), null);
    bench
        .type(
            "t",
            ActivityKind.PURE,
            8,
            times,
            new BoundHandler.Blocking(
                c -> {
                  bench.ran.add(c.eventId());
                  return Receipt.succeeded();
                }))
        .start()
        .deliver("t", "e1", "e2");
    assertThat(bench.ran).isEmpty();
    bench.runThreads();
    assertThat(bench.ran).containsExactly("e1", "e2");
    assertThat(bench.broker.acked).hasSize(2);
  }

  @Test
  void aTypeThatWaitsForAThreadGoesBeforeOneThatHasSome() {
    BoundHandler handler =
        new BoundHandler.Blocking(
            c -> {
              bench.ran.add(c.eventId());
              return Receipt.succeeded();
            });
    bench
        .type("many", ActivityKind.PURE, 32, Bench.Times.DEFAULT, handler)
        .type("few", ActivityKind.PURE, 32, Bench.Times.DEFAULT, handler)
        .start()
        .deliver("many", "m1", "m2", "m3", "m4", "m5", "m6")
        .deliver("few", "f1", "f2");
    bench.runThreads();
    bench.runThreads();
    assertThat(bench.ran).hasSize(8);
    assertThat(bench.ran.subList(0, 4)).containsExactly("m1", "m2", "m3", "m4");
    assertThat(bench.ran.get(4)).isEqualTo("f1");
  }

  @Test
  void dueRetriesPassTheSameGates() {
    Promise<Receipt> hold = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            3,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                c ->
                    c.attempt() == 1
                        ? Future.failedFuture(new TransientFailure("no"))
                        : hold.future()))
        .start();
    for (int i = 0; i < 20; i++) {
      bench.deliver("t", "e" + i);
    }
    bench.advance(10_000);
    assertThat(bench.events.inFlight.get("t")).isEqualTo(3);
    assertThat(bench.events.highestInFlight).isEqualTo(3);
    hold.complete(Receipt.succeeded());
    bench.advance(10_000);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(20);
  }

  @Test
  void dueRetriesDoNotStarveBehindNewWork() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            1,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                c -> {
                  bench.ran.add(c.eventId());
                  Promise<Receipt> slow = Promise.promise();
                  bench.time.after(
                      Duration.ofMillis(500), () -> slow.complete(Receipt.succeeded()));
                  return c.eventId().equals("r") && c.attempt() == 1
                      ? Future.failedFuture(new TransientFailure("no"))
                      : slow.future();
                }))
        .start()
        .deliver("t", "r");
    for (int i = 0; i < 60; i++) {
      bench.deliver("t", "n" + i);
    }
    bench.advance(9_000);
    assertThat(bench.ran.stream().filter("r"::equals)).hasSize(2);
  }

  @Test
  void theRetryBudgetDeniesWithoutBurningAnAttempt() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            32,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                bench.recording(
                    c ->
                        c.attempt() == 1
                            ? Future.failedFuture(new TransientFailure("no"))
                            : Bench.done())),
            new ActivityConfig.RetryBudget(0.1, 0))
        .start();
    for (int i = 0; i < 100; i++) {
      bench.deliver("t", "e" + i);
    }
    bench.advance(20_000);
    assertThat(bench.events.starts - bench.events.firstStarts)
        .as("a tenth of the first starts")
        .isEqualTo(10);
    assertThat(bench.events.denied).isPositive();
    long waiting =
        bench.store.rows.values().stream()
            .filter(r -> r.state == ActivityState.RETRY_SCHEDULED && r.attempts == 1)
            .count();
    assertThat(waiting).isEqualTo(90);
  }

  @Test
  void firstStartsOfAQuietTimeAllowNoRetries() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            32,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                c ->
                    c.eventId().startsWith("bad") && c.attempt() == 1
                        ? Future.failedFuture(new TransientFailure("no"))
                        : Bench.done()),
            new ActivityConfig.RetryBudget(0.1, 0))
        .start();
    for (int i = 0; i < 500; i++) {
      bench.deliver("t", "fine" + i);
    }
    bench.advance(60_000);
    for (int i = 0; i < 20; i++) {
      bench.deliver("t", "bad" + i);
    }
    bench.store.failNextOf("countStarts", new FencepostException(FailureKind.TIMEOUT, "away"));
    bench.advance(20_000);
    assertThat(bench.events.starts - bench.events.firstStarts)
        .as("a tenth of the first starts of the window")
        .isEqualTo(2);
  }

  @Test
  void eventsOfAKeyRunOneAtATimeAndWaitBehindARetry() {
    bench
        .ordered()
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            c ->
                c.eventId().equals("k1") && c.attempt() == 1
                    ? Future.failedFuture(new TransientFailure("no"))
                    : Bench.done())
        .start();
    bench.broker.deliver(
        Bench.message("t", "k1", "k"),
        Bench.message("t", "k2", "k"),
        Bench.message("t", "other", "o"),
        Bench.message("t", "k3", "k"));
    bench.time.settle();
    assertThat(bench.ran).containsExactlyInAnyOrder("k1", "other");
    assertThat(bench.row("k2").state).isEqualTo(ActivityState.BLOCKED);
    assertThat(bench.broker.acked).hasSize(4);
    bench.advance(20_000);
    assertThat(bench.ran.stream().filter(id -> id.startsWith("k")))
        .containsExactly("k1", "k1", "k2", "k3");
  }

  @Test
  void whatWaitsForAThreadIsGivenBackAtOnceAndUsesUpNoAttempt() {
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            8,
            Bench.Times.DEFAULT,
            new BoundHandler.Blocking(
                c -> {
                  bench.ran.add(c.eventId());
                  return Receipt.succeeded();
                }))
        .start()
        .deliver("t", "e1", "e2", "e3", "e4", "e5", "e6");
    Future<Void> stopped = bench.worker.stop();
    bench.advance(100);
    for (String id : List.of("e5", "e6")) {
      assertThat(bench.row(id).state).as(id).isEqualTo(ActivityState.RETRY_SCHEDULED);
      assertThat(bench.row(id).attempts).as(id).isZero();
    }
    assertThat(bench.broker.acked).as("kept in their rows").hasSize(2);
    bench.runThreads();
    bench.advance(100);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(bench.ran).containsExactly("e1", "e2", "e3", "e4");
    assertThat(bench.store.count("settle")).as("each settled once").isEqualTo(2);
  }

  @Test
  void effectsThatWaitForTheirTurnAreGivenBackToo() {
    bench.effect("t", c -> Promise.<Receipt>promise().future()).start();
    bench.broker.redeliver(
        Bench.message("t", "e1"), Bench.message("t", "e2"), Bench.message("t", "e3"));
    bench.time.settle();
    assertThat(bench.ran).containsExactly("e1", "e2");
    Future<Void> stopped = bench.worker.stop();
    bench.advance(100);
    assertThat(bench.row("e3").state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(bench.row("e3").attempts).isZero();
    bench.advance(36_000);
    assertThat(stopped.isComplete()).isTrue();
  }

  /** An event whose retry is due in 5 s. */
  private FakeActivityStore.Row failedOnce() {
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            c -> c.attempt() == 1 ? Future.failedFuture(new TransientFailure("no")) : Bench.done())
        .start()
        .deliver("t", "e1");
    return bench.row("e1");
  }

  private void assertNotStartedAgain(FakeActivityStore.Row row) {
    assertThat(bench.ran).containsExactly("e1");
    assertThat(row.state).isEqualTo(ActivityState.RETRY_SCHEDULED);
    assertThat(row.attempts).as("the start that did not run is given back").isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"false, claimDue", "true, claimSuspect"})
  void whatAClaimOnItsWayHasStartedIsGivenBack(boolean suspect, String claim) {
    FakeActivityStore.Row row = failedOnce();
    row.suspect = suspect;
    bench.store.delayAnswersOf(claim);
    bench.advance(7_000);
    assertThat(row.attempts).as("claimed, and not answered").isEqualTo(2);
    Future<Void> stopped = bench.worker.stop();
    bench.advance(10_000);
    assertThat(stopped.isComplete()).as("waits for the answer").isFalse();
    bench.store.releaseAnswers();
    bench.advance(100);
    assertThat(stopped.isComplete()).isTrue();
    assertNotStartedAgain(row);
  }

  @Test
  void nothingIsClaimedOnceItStops() {
    FakeActivityStore.Row row = failedOnce();
    bench.store.delayAnswersOf("mayBeDue");
    bench.advance(7_000);
    Future<Void> stopped = bench.worker.stop();
    bench.store.releaseAnswers();
    bench.advance(100);
    assertThat(stopped.isComplete()).isTrue();
    assertThat(bench.store.count("claimDue")).isZero();
    assertNotStartedAgain(row);
  }
}
