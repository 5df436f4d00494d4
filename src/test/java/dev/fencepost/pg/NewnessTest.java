package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NewnessTest {
  private final Newness newness = new Newness();
  private final List<Boolean> asked = new ArrayList<>();

  @Test
  void takesDeliveriesForNewUnlessTheBrokerSaysOtherwise() {
    ask(false, null);
    ask(true, null);
    assertThat(asked).containsExactly(true, false);
  }

  @Test
  void looksFirstForAWhileAfterADuplicate() {
    ask(false, "23505");
    assertThat(asked).containsExactly(true, false);
    asked.clear();
    for (int i = 0; i < 101; i++) {
      ask(false, null);
    }
    assertThat(asked.subList(0, 100)).containsOnly(false);
    assertThat(asked.get(100)).isTrue();
  }

  @Test
  void otherFailuresAreTheCallers() {
    assertThat(ask(false, "40001").failed()).isTrue();
    assertThat(asked).containsExactly(true);
  }

  /** A group of one; taken for new it fails with the SQLSTATE, if any. */
  private Future<String> ask(boolean known, String state) {
    return newness.assume(
        List.of(request(known)),
        allNew -> {
          asked.add(allNew);
          return allNew && state != null
              ? Future.failedFuture(new PgException("no", "ERROR", state, ""))
              : Future.succeededFuture("done");
        });
  }

  private static Claim.Request request(boolean known) {
    Claim.Work work =
        new Claim.Work("order.placed", ActivityKind.IDEMPOTENT, 1, 1, Duration.ofSeconds(30));
    return new Claim.Request(new ActivityId("c", "e"), work, null, false, known, null);
  }
}
