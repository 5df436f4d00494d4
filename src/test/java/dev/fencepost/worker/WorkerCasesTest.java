package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.NotStarted;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases from incidents, in virtual time: what takes hours, or must be exact to the moment. */
class WorkerCasesTest {
  private final Bench bench = new Bench();

  /** A start of another process that is gone; its message is kept. */
  private void diedElsewhere(String type, ActivityKind kind, String id) {
    ActivityId of = new ActivityId(Bench.QUEUE, id);
    Claim.Work work = new Claim.Work(type, kind, 3, 2, Duration.ofSeconds(30));
    bench.store.claim(
        "other", List.of(new Claim.Request(of, work, null, false, Bench.message(type, id))));
    bench.store.keepBody(of, Bench.message(type, id));
  }

  @ParameterizedTest
  @ValueSource(longs = {-3_600, 3_600})
  void w13_aProcessWhoseClockIsAnHourOffTakesNothingOverTooSoonAndNothingTooLate(long seconds) {
    bench.time.clockError = Duration.ofSeconds(seconds);
    AtomicReference<ActivityContext> context = new AtomicReference<>();
    Promise<Receipt> run = Promise.promise();
    bench
        .type("t", ActivityKind.IDEMPOTENT, c -> Bench.done())
        .type(
            "long",
            ActivityKind.IRREVERSIBLE,
            c -> {
              context.set(c);
              return run.future();
            })
        .start();
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "e1");
    bench.deliver("long", "e2");
    bench.advance(14_000);
    assertThat(bench.row("e2").fence).as("its lease is renewed").isEqualTo(1);
    assertThat(Duration.between(bench.time.wallClock(), context.get().softLimitAt()))
        .as("shown by the same clock")
        .isEqualTo(Duration.ofSeconds(1));
    run.complete(Receipt.succeeded());
    bench.advance(15_000);
    assertThat(bench.row("e1").attempts).as("held by its lease").isEqualTo(1);
    bench.advance(10_000);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.events.leasesLost).isZero();
  }

  @Test
  void w27_oneBadRowKeepsNoOtherFromItsRecovery() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    for (String id : List.of("e1", "bad", "e2")) {
      diedElsewhere("t", ActivityKind.IDEMPOTENT, id);
    }
    bench.store.badRow = "bad";
    bench.advance(45_000);
    assertThat(bench.ran).containsExactlyInAnyOrder("e1", "e2");
    assertThat(bench.row("bad").state).isEqualTo(ActivityState.RUNNING);
    bench.store.badRow = null;
    bench.advance(10_000);
    assertThat(bench.row("bad").state).as("the next pass").isEqualTo(ActivityState.COMPLETED);
  }

  @Test
  void aRunThatWasGivenUpBeforeItsCallIsChargedNothing() {
    List<Integer> attempts = new ArrayList<>();
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            c -> {
              attempts.add(c.attempt());
              return attempts.size() <= 5
                  ? Future.failedFuture(new NotStarted("away", Duration.ofSeconds(2), null))
                  : Bench.done();
            })
        .start()
        .deliver("t", "e1");
    assertThat(bench.broker.acked).as("it waits in the database").hasSize(1);
    bench.advance(1_900);
    assertThat(attempts).as("no sooner than asked").hasSize(1);
    bench.advance(20_000);
    assertThat(attempts).containsExactly(1, 1, 1, 1, 1, 1);
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.row("e1").attempts).isEqualTo(1);
    assertThat(bench.row("e1").retries).isZero();
    assertThat(bench.events.count(WorkerEvents.Outcome.RETRY_SCHEDULED)).isZero();
  }

  @Test
  void everyDeadLetterHasItsCopyWhoeverWroteIt() {
    bench.deadLetterExchange("dead").type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start();
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "swept");
    bench.row("swept").attempts = 3;
    bench.deliver("unheard.of", "unknown");
    bench.advance(45_000);
    assertThat(bench.row("swept").state).isEqualTo(ActivityState.DEAD);
    assertThat(copied()).containsExactly("swept");
    diedElsewhere("t", ActivityKind.IDEMPOTENT, "limited");
    FakeActivityStore.Row limited = bench.row("limited");
    limited.state = ActivityState.RETRY_SCHEDULED;
    limited.attempts = 3;
    bench.broker.refusedCopies = 1;
    bench.advance(20_000);
    assertThat(limited.state).isEqualTo(ActivityState.DEAD);
    assertThat(copied()).as("the broker refused it").containsExactly("swept");
    bench.advance(40_000);
    assertThat(copied()).containsExactly("swept", "limited");
    bench.advance(25 * 3_600_000L);
    assertThat(copied()).as("each once").containsExactly("swept", "limited", "unknown");
    assertThat(bench.broker.copies.get(0).message().headers())
        .isEqualTo(Map.of(DeadLetterCopies.REASON_HEADER, "retries_exhausted"));
  }

  private List<Object> copied() {
    return bench.broker.copies.stream()
        .map(copy -> copy.message().properties().get("message_id"))
        .toList();
  }

  @Test
  void isNotReadyWhileTheDatabaseIsAway() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    bench.advance(10_000);
    assertThat(bench.worker.notReady()).isNull();
    bench.store.down = new FencepostException(FailureKind.DATABASE_UNREACHABLE, "gone away");
    bench.advance(6_000);
    assertThat(bench.worker.notReady()).as("though nothing came in").contains("gone away");
    bench.store.down = null;
    bench.advance(6_000);
    assertThat(bench.worker.notReady()).isNull();
  }

  @Test
  void isNotReadyWhileTheDatabaseReadsAndDoesNotWrite() {
    bench.type("t", ActivityKind.PURE, c -> Bench.done()).start();
    for (int i = 0; i < 50; i++) {
      bench.store.failNextOf(
          "claim", new FencepostException(FailureKind.DATABASE_UNREACHABLE, "its disk is full"));
    }
    bench.advance(500).deliver("t", "e1");
    for (int i = 0; i < 20; i++) {
      bench.advance(100);
      assertThat(bench.worker.notReady()).contains("its disk is full");
    }
  }

  @Test
  void w16_isNotReadyWhenEverySlotOfATypeHasLeaked() {
    List<Promise<Receipt>> hung = new ArrayList<>();
    Bench.Times times =
        new Bench.Times(Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(4), null);
    bench
        .type(
            "t",
            ActivityKind.IRREVERSIBLE,
            2,
            times,
            new BoundHandler.Async(
                bench.recording(
                    c -> {
                      Promise<Receipt> never = Promise.promise();
                      hung.add(never);
                      return never.future();
                    })))
        .start()
        .deliver("t", "e1");
    bench.advance(5_000);
    assertThat(bench.worker.notReady()).as("there is a slot left").isNull();
    bench.deliver("t", "e2", "e3").advance(5_000);
    assertThat(bench.worker.notReady()).contains("all slots of t");
    assertThat(bench.ran).containsExactly("e1", "e2");
    hung.get(0).complete(Receipt.succeeded());
    bench.advance(100); // due retries are asked first
    assertThat(bench.worker.notReady()).isNull();
    assertThat(bench.ran).as("the slot that came back").containsExactly("e1", "e2", "e3");
  }

  @Test
  void aBudgetThatNobodyWaitsForDeniesNothing() {
    bench
        .type(
            "t",
            ActivityKind.PURE,
            8,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(bench.recording(c -> Bench.done())),
            new ActivityConfig.RetryBudget(0.1, 0))
        .start()
        .deliver("t", "e1");
    bench.advance(60_000);
    assertThat(bench.events.denied).isZero();
  }

  @Test
  void theBudgetHoldsForTheFleetNotForEachProcess() {
    bench.type(
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
        new ActivityConfig.RetryBudget(0.1, 0));
    for (String owner : List.of("w1", "w2", "w3")) {
      bench.owner = owner;
      bench.start();
      for (int i = 0; i < 100; i++) {
        bench.deliver("t", owner + "-" + i);
      }
    }
    bench.advance(9_000); // all have been due for some seconds, the window has not passed
    assertThat(bench.events.firstStarts).isEqualTo(300);
    assertThat(bench.events.starts - bench.events.firstStarts)
        .as("a tenth of all first starts")
        .isBetween(20, 30);
  }

  @Test
  void aHandlerThatReturnsTwiceIsSettledOnce() {
    bench
        .type("t", ActivityKind.IRREVERSIBLE, c -> twice(Receipt.succeeded("first")))
        .start()
        .deliver("t", "e1");
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(bench.store.count("settle")).isEqualTo(1);
    assertThat(bench.store.count("recordLate")).isZero();
    assertThat(bench.broker.acked).hasSize(1);
    assertThat(bench.events.inFlight.get("t")).isZero();
    assertThat(bench.events.leaked).isZero();
  }

  /** A future of somebody else's make that tells its listener twice. */
  @SuppressWarnings("unchecked")
  static Future<Receipt> twice(Receipt receipt) {
    return (Future<Receipt>)
        Proxy.newProxyInstance(
            Future.class.getClassLoader(),
            new Class<?>[] {Future.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("onComplete")) {
                throw new UnsupportedOperationException(method.getName());
              }
              Future<Receipt> done = Future.succeededFuture(receipt);
              for (int i = 0; i < 2; i++) {
                if (arguments[0] instanceof Handler<?> handler) {
                  ((Handler<Object>) handler).handle(done);
                } else {
                  ((io.vertx.core.Completable<Receipt>) arguments[0]).complete(receipt, null);
                }
              }
              return proxy;
            });
  }
}
