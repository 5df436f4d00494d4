package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A queue in which nothing is due costs next to nothing and keeps no slot. */
class IdleQueueTest {
  private static final int MINUTE = 60_000;

  private final Bench bench = new Bench();

  private static Bench idle(int queues) {
    return new Bench()
        .queues(queues)
        .type("t", ActivityKind.IDEMPOTENT, c -> Bench.done())
        .effect("e", c -> Bench.done())
        .start();
  }

  @Test
  void aHundredIdleQueuesSetAsManyTimersAsOne() {
    Bench one = idle(1).advance(MINUTE);
    Bench hundred = idle(100).advance(MINUTE);

    // Sweeps come at random, twelve to sixteen times a minute.
    assertThat(hundred.time.set).isBetween(one.time.set - 20, one.time.set + 20);
    assertThat(hundred.time.wakeUps)
        .as("four looks at the loop's lag a second, with which nearly all the rest coincides")
        .isBetween(240, 260);
  }

  @Test
  void aHundredIdleQueuesAskTheDatabaseAsOneDoes() {
    Bench hundred = idle(100).advance(MINUTE);

    assertThat(hundred.store.count("mayBeDue")).as("retries and suspects").isEqualTo(120);
    assertThat(hundred.store.count("mayNeedSweep")).isBetween(12L, 16L);
    assertThat(hundred.store.calls)
        .doesNotContain("expired", "renew", "claimDue", "claimSuspect", "uncopied");
  }

  @Test
  void afterItsWorkIsDoneAQueueIsAsQuietAsBefore() {
    Bench worked = idle(100).advance(MINUTE);
    int before = worked.time.set;
    worked.advance(MINUTE);
    int quiet = worked.time.set - before;

    worked.deliver("t", "a").deliver("e", "b").advance(MINUTE);
    assertThat(worked.ran).containsExactly("a", "b");
    before = worked.time.set;
    worked.advance(MINUTE);

    assertThat(worked.time.set - before).isBetween(quiet - 20, quiet + 20);
    assertThat(worked.store.calls).doesNotContain("renew");
  }

  @Test
  void workThatComesAfterARestHasItsLeaseRenewedAndItsLimitSeen() {
    Promise<Receipt> never = Promise.promise();
    bench
        .type("t", ActivityKind.IDEMPOTENT, c -> never.future())
        .start()
        .advance(MINUTE + 123)
        .deliver("t", "late");

    bench.advance(10_000);
    assertThat(bench.store.count("renew")).as("by renew-every").isEqualTo(1);
    bench.advance(10_000 - 1);
    assertThat(bench.store.attempts).isEmpty();
    bench.advance(LimitWatch.EVERY.toMillis() + 1);
    assertThat(bench.store.attempts)
        .as("at its hard limit")
        .extracting(FakeActivityStore.Attempt::outcome)
        .containsExactly(AttemptOutcome.TIMED_OUT);
  }

  @Test
  void theLoopIsWatchedOnlyWhileHandlersAreCalled() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start().advance(MINUTE);
    assertThat(bench.loopChecks).isEmpty();

    bench.deliver("t", "a", "b");
    assertThat(bench.loopChecks).hasSize(1);

    bench.loopChecks.get(0).run();
    assertThat(bench.loopChecks).as("none is inside a handler").hasSize(1);

    bench.deliver("t", "c");
    assertThat(bench.loopChecks).hasSize(2);
  }

  @Test
  void aLagIsKnownToTheFirstDeliveryAfterARest() {
    bench.type("t", ActivityKind.IDEMPOTENT, c -> Bench.done()).start().advance(MINUTE + 10);
    bench.time.sleepThrough(Duration.ofMillis(600));

    bench.deliver("t", "a");
    assertThat(bench.ran).isEmpty();

    bench.advance(Admission.CHECK_EVERY.toMillis());
    assertThat(bench.ran).containsExactly("a");
  }

  @Test
  void nothingDueAsksNoBudget() {
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            32,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(bench.recording(c -> Bench.done())),
            new ActivityConfig.RetryBudget(0.1, 1))
        .start()
        .advance(10_000);

    assertThat(bench.store.calls).contains("mayBeDue").doesNotContain("countStarts", "claimDue");
  }

  @Test
  void aSlotGrantedToARetryThatAnotherProcessTookGoesToTheNext() {
    Promise<Receipt> first = Promise.promise();
    bench
        .type(
            "t",
            ActivityKind.IDEMPOTENT,
            1,
            Bench.Times.DEFAULT,
            new BoundHandler.Async(
                bench.recording(
                    c ->
                        switch (c.eventId()) {
                          case "fails" -> Future.failedFuture(new TransientFailure("no"));
                          case "first" -> first.future();
                          default -> Bench.done();
                        })))
        .start()
        .deliver("t", "fails", "first", "second")
        .advance(7_000);
    assertThat(bench.ran).containsExactly("fails", "first");

    bench.store.rows.remove(bench.row("fails").id);
    first.complete(Receipt.succeeded());
    bench.advance(3_000);

    assertThat(bench.ran).containsExactly("fails", "first", "second");
  }
}
