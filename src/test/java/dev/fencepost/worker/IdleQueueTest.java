package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.model.ActivityKind;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import org.junit.jupiter.api.Test;

/** A queue in which nothing is due costs next to nothing and keeps no slot. */
class IdleQueueTest {
  private final Bench bench = new Bench();

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
