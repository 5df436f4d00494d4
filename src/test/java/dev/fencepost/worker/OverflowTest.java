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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A type that hangs keeps no other type of its queue from its messages. */
class OverflowTest {
  private static final Bench.Times LONG =
      new Bench.Times(Duration.ofSeconds(30), Duration.ofHours(1), Duration.ofHours(2), null);
  private static final int STUCK = 400;

  private final Bench bench = new Bench();
  private final Promise<Receipt> hold = Promise.promise();

  private void stuckAndQuick(ActivityConfig.RetryBudget budget) {
    bench.type(
        "stuck",
        ActivityKind.IRREVERSIBLE,
        2,
        LONG,
        new BoundHandler.Async(bench.recording(c -> hold.future())),
        budget);
    bench.type("quick", ActivityKind.PURE, c -> Bench.done());
    bench.broker.prefetch = 256;
    bench.start();
  }

  private void deliver() {
    for (int i = 0; i < STUCK; i++) {
      bench.broker.deliver(Bench.message("stuck", "s" + i));
    }
    for (int i = 0; i < 50; i++) {
      bench.broker.deliver(Bench.message("quick", "q" + i));
    }
    bench.time.settle();
  }

  private long quick() {
    return bench.ran.stream().filter(id -> id.startsWith("q")).count();
  }

  @Test
  void theOthersRunAndNothingOfTheHungTypeIsLostOrCounted() {
    stuckAndQuick(null);
    deliver();
    assertThat(quick()).as("behind a full prefetch").isZero();
    bench.advance(4_500);
    assertThat(bench.store.count("defer")).as("five seconds may be a long run").isZero();
    bench.advance(10_000);
    assertThat(quick()).isEqualTo(50);
    assertThat(bench.broker.ready()).isZero();
    assertThat(bench.broker.unacked.size()).as("those that run, and a quiet rest").isLessThan(128);
    assertThat(bench.events.inFlight.get("stuck")).isEqualTo(2);
    long stored =
        bench.store.rows.values().stream()
            .filter(row -> row.state == ActivityState.RETRY_SCHEDULED)
            .peek(row -> assertThat(row.attempts).isZero())
            .peek(row -> assertThat(row.body).isNotNull())
            .count();
    assertThat(stored).isGreaterThan(STUCK - 130);
    hold.complete(Receipt.succeeded());
    bench.advance(30_000);
    assertThat(bench.ran).as("each once").hasSize(STUCK + 50);
    assertThat(new HashSet<>(bench.ran)).hasSize(STUCK + 50);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(STUCK + 50);
    assertThat(bench.events.count(WorkerEvents.Outcome.DUPLICATE)).isZero();
    assertThat(bench.events.highestInFlight).as("the same gates").isLessThanOrEqualTo(32);
    assertThat(bench.events.firstStarts).isEqualTo(STUCK + 50);
    assertThat(bench.store.rows.values()).allMatch(row -> row.attempts == 1 && row.retries == 0);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void whatWasNotStartedIsNoRetryToTheBudget() {
    stuckAndQuick(new ActivityConfig.RetryBudget(0.1, 0));
    deliver();
    bench.advance(15_000);
    assertThat(quick()).isEqualTo(50);
    hold.complete(Receipt.succeeded());
    bench.advance(30_000);
    assertThat(bench.events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(STUCK + 50);
  }

  @Test
  void aQueueOfOneTypeKeepsItsBacklogAtTheBroker() {
    bench.type("t", ActivityKind.PURE, 2, LONG, new BoundHandler.Async(c -> hold.future()));
    bench.broker.prefetch = 256;
    bench.start();
    for (int i = 0; i < STUCK; i++) {
      bench.broker.deliver(Bench.message("t", "e" + i));
    }
    bench.advance(60_000);
    assertThat(bench.store.count("defer")).isZero();
    assertThat(bench.broker.ready()).isEqualTo(STUCK - 256);
  }

  @Test
  void whileTheDatabaseIsAwayNothingIsMoved() {
    stuckAndQuick(null);
    bench.store.down = new FencepostException(FailureKind.DATABASE_UNREACHABLE, "away");
    deliver();
    bench.advance(60_000);
    assertThat(bench.store.count("defer")).isZero();
    assertThat(bench.broker.acked).isEmpty();
    bench.store.down = null;
    bench.advance(30_000);
    assertThat(quick()).isEqualTo(50);
  }

  @Test
  void aChannelThatGoesMeanwhileLosesAndDoublesNothing() {
    stuckAndQuick(null);
    deliver();
    bench.store.delayAnswersOf("defer");
    bench.advance(7_000);
    bench.broker.dropChannel();
    bench.store.releaseAnswers();
    bench.advance(20_000);
    assertThat(quick()).isEqualTo(50);
    hold.complete(Receipt.succeeded());
    bench.advance(30_000);
    assertThat(bench.ran).hasSize(STUCK + 50);
    assertThat(new HashSet<>(bench.ran)).hasSize(STUCK + 50);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void theOneThatTheDatabaseRefusesIsDeadAndItsNeighboursAreStored() {
    stuckAndQuick(null);
    deliver();
    bench.advance(4_500);
    for (int i = 0; i < 8; i++) { // halves of the first group, down to one
      bench.store.failNextOf(
          "defer", new FencepostException(FailureKind.DATABASE_REFUSED, "a bad row"));
    }
    bench.advance(10_000);
    assertThat(quick()).isEqualTo(50);
    assertThat(bench.store.deadLetters).isNotEmpty();
    assertThat(bench.store.deadLetters).hasSizeLessThan(3);
  }

  @Test
  void orderByKeyHoldsAcrossTheTypesOfAQueue() {
    List<String> order = new ArrayList<>();
    bench.ordered();
    bench.type(
        "stuck",
        ActivityKind.PURE,
        2,
        LONG,
        new BoundHandler.Async(
            c -> {
              order.add(c.eventId());
              return c.eventId().equals("s4") && c.attempt() == 1
                  ? Future.failedFuture(new TransientFailure("once"))
                  : hold.future();
            }));
    bench.type(
        "quick",
        ActivityKind.PURE,
        c -> {
          order.add(c.eventId());
          return Bench.done();
        });
    bench.broker.prefetch = 256;
    bench.start();
    for (int i = 0; i < 100; i++) { // ten keys, each in turn a stuck and a quick one
      bench.broker.deliver(
          Bench.message("stuck", "s" + i, "k" + i % 10),
          Bench.message("quick", "q" + i, "k" + i % 10));
    }
    for (int i = 0; i < 100; i++) {
      bench.broker.deliver(Bench.message("quick", "free" + i, "own" + i));
    }
    bench.advance(15_000);
    assertThat(order).as("of keys that wait for nothing").contains("free0", "free99");
    hold.complete(Receipt.succeeded());
    bench.advance(200_000);
    for (int key = 0; key < 10; key++) {
      List<String> expected = new ArrayList<>();
      for (int i = key; i < 100; i += 10) {
        expected.add("s" + i);
        if (i == 4) {
          expected.add("s4"); // once more, before anything else of its key
        }
        expected.add("q" + i);
      }
      assertThat(order.stream().filter(expected::contains)).containsExactlyElementsOf(expected);
    }
    assertThat(bench.broker.unacked).isEmpty();
  }
}
