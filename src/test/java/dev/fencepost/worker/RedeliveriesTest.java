package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code redeliveries} counts is the broker's, and not how often this process asks. */
class RedeliveriesTest {
  private static final Duration TTL = Duration.ofSeconds(4);

  private final Promise<Receipt> run = Promise.promise();
  private final Bench bench = new Bench().type("t", ActivityKind.IDEMPOTENT, c -> run.future());

  private void redeliver(String id) {
    bench.broker.redeliver(Bench.message("t", id));
    bench.time.settle();
  }

  /** Starts it elsewhere, under a lease so short that a delivery waits for its end. */
  private void startedElsewhere(String id) {
    Claim.Work work = new Claim.Work("t", ActivityKind.IDEMPOTENT, 3, 2, TTL);
    bench.store.claim(
        "another",
        List.of(
            new Claim.Request(
                new ActivityId(Bench.QUEUE, id), work, null, false, Bench.message("t", id))));
  }

  @Test
  void aDeliveryThatAsksAgainAndAgainIsOneRedelivery() {
    bench.start();
    startedElsewhere("e1");
    redeliver("e1");
    for (int i = 0; i < 6; i++) {
      bench.advance(TTL.toMillis() / 2);
      bench.row("e1").leaseUntil = bench.time.nanos() + TTL.toNanos(); // it is renewed
    }
    assertThat(bench.store.count("claim")).as("the other's and three of ours").isEqualTo(4);
    assertThat(bench.row("e1").redeliveries).isEqualTo(1);
    redeliver("e1");
    bench.row("e1").state = ActivityState.COMPLETED;
    bench.advance(TTL.toMillis() + 100);
    assertThat(bench.broker.unacked).isEmpty();
    assertThat(bench.row("e1").redeliveries).isEqualTo(2);
  }

  @Test
  void aDeliveryWhoseLeaseWasLostIsNone() {
    bench.start().deliver("t", "e1");
    bench.row("e1").owner = "another";
    bench.row("e1").fence++;
    run.complete(Receipt.succeeded());
    bench.time.settle();
    assertThat(bench.store.count("claim")).isEqualTo(2);
    assertThat(bench.row("e1").redeliveries).isZero();
  }
}
