package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.DeadLetterReason;
import io.vertx.core.Promise;
import org.junit.jupiter.api.Test;

/** Events of types that nobody knows, among others of their key. */
class UnknownTypesTest {
  private final Promise<Receipt> first = Promise.promise();
  private final Bench bench =
      new Bench()
          .type(
              "t",
              ActivityKind.IDEMPOTENT,
              c -> c.eventId().equals("e0") ? first.future() : Bench.done());

  private void deliver(String type, String id) {
    bench.broker.deliver(Bench.message(type, id, "k"));
    bench.time.settle();
  }

  private void endFirst() {
    first.complete(Receipt.succeeded());
    bench.time.settle();
  }

  @Test
  void oneIsStoredInItsTurnAndOvertakesNoneOfItsKey() {
    bench.ordered().start();
    deliver("t", "e0");
    deliver("t", "e1");
    deliver("new", "e2");
    deliver("t", "e3");
    assertThat(bench.row("e2")).as("two before it have not ended").isNull();
    assertThat(bench.broker.acked).isEmpty();
    endFirst();
    assertThat(bench.ran).containsExactly("e0", "e1");
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.UNRESOLVED);
    assertThat(bench.row("e3").state).isEqualTo(ActivityState.BLOCKED);
    assertThat(bench.broker.acked).hasSize(4);
    bench.advance(25 * 3_600_000L);
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.DEAD);
    assertThat(bench.ran).containsExactly("e0", "e1", "e3");
  }

  @Test
  void oneOfAnotherKeyWaitsForNobody() {
    bench.ordered().start();
    deliver("t", "e0");
    bench.broker.deliver(Bench.message("new", "e1", "another"), Bench.message("new", "e2"));
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.UNRESOLVED);
    assertThat(bench.row("e2").state).isEqualTo(ActivityState.UNRESOLVED);
  }

  @Test
  void oneThatWaitedWhenItsChannelWentComesAgainAndIsStoredOnce() {
    bench.ordered().start();
    deliver("t", "e0");
    deliver("new", "e1");
    bench.broker.dropChannel();
    endFirst();
    assertThat(bench.row("e1").state).isEqualTo(ActivityState.UNRESOLVED);
    assertThat(bench.store.count("storeUnresolved")).isEqualTo(1);
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void oneThatTheDatabaseRefusesIsDeadAndKeepsNobodyOfItsKey() {
    bench.ordered().start();
    bench.store.refused = "storeUnresolved";
    deliver("new", "e1");
    deliver("t", "e2");
    assertThat(bench.store.deadLetters)
        .singleElement()
        .extracting("reason")
        .isEqualTo(DeadLetterReason.POISON_MESSAGE);
    assertThat(bench.ran).containsExactly("e2");
    assertThat(bench.broker.unacked).isEmpty();
  }

  @Test
  void whereNoOrderIsKeptOneHoldsUpNobody() {
    bench.start();
    deliver("new", "e1");
    deliver("new", "e2");
    assertThat(bench.row("e1").key).isNull();
    bench.owner = "a newer worker, on a queue that is ordered";
    bench.type("new", ActivityKind.IDEMPOTENT, c -> first.future()).ordered().start();
    bench.advance(10_000);
    assertThat(bench.ran).as("at once").containsExactly("e1", "e2");
  }
}
