package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A whole window is under suspicion when the broker closes the channel: what finding one costs. */
class SuspectsTest {
  private static final int WINDOW = 1000;
  private static final long GUILTY = 777;

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final InFlight rows = new InFlight(true);
  private final List<Long> convicted = new ArrayList<>();
  private final List<Held> out = new ArrayList<>();
  private volatile boolean free;

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  /** Rights by topic, and a routing key of its own for each row. */
  @Test
  void oneRefusedTopicOfAThousandIsFoundInFewRounds() {
    found(ParkedReason.ACCESS_REFUSED, true);
  }

  /** Nothing shows which one it is: the broker's limit is below ours. */
  @Test
  void oneRowAboveTheBrokersLimitIsFoundInFewRounds() {
    found(ParkedReason.TOO_LARGE, false);
  }

  private void found(ParkedReason reason, boolean keysOfTheirOwn) {
    broker.closes = row -> row.seq() == GUILTY ? reason : null;
    context.runOnContext(
        v -> {
          send(keysOfTheirOwn);
          suspects().accuse(rows.recall(true), reason, true);
        });
    Await.until("all are free", Duration.ofSeconds(60), () -> free);
    assertThat(convicted).containsExactly(GUILTY);
    assertThat(broker.opened.get()).as("channels").isLessThanOrEqualTo(5);
    assertThat(broker.batches.get()).as("round trips").isLessThanOrEqualTo(40);
  }

  private void send(boolean keysOfTheirOwn) {
    Batch batch =
        new Batch(
            new Cursor(Snapshot.of(10), 0, Map.of(), null, 0),
            new Cursor.Ahead(Snapshot.of(20), WINDOW),
            0);
    for (long seq = 1; seq <= WINDOW; seq++) {
      OutboxRow row = HandPublisher.row(seq, "x", keysOfTheirOwn ? "r" + seq : "r");
      Held held = rows.admit(row, batch);
      rows.enqueue(held);
      out.add(held);
    }
    Held held;
    while ((held = rows.poll(true)) != null) {
      rows.markSent(held, System.nanoTime());
    }
  }

  private Suspects suspects() {
    LaneLoop.Lane lane = HandPublisher.lane();
    FakePublisher publisher = new FakePublisher(vertx, broker);
    Duration patience = Duration.ofSeconds(30);
    Quarantine quarantine =
        new Quarantine(vertx, publisher, lane, Quarantine.Kind.SUSPECTS, patience);
    Quarantine trials = new Quarantine(vertx, publisher, lane, Quarantine.Kind.SILENT, patience);
    Judge judge = new Judge();
    Silence silence = new Silence(vertx, 0, RelayConfigs.LIMITS, rows, trials, judge);
    return new Suspects(rows, quarantine, judge, silence);
  }

  private final class Judge implements Suspects.Court {
    @Override
    public void judged(Held held, Publisher.Verdict verdict) {
      if (verdict.refusal() != null) {
        convicted.add(verdict.seq());
      }
      rows.settle(held);
      released();
    }

    /** None is suspected any more. */
    @Override
    public void released() {
      free = !out.isEmpty() && out.stream().noneMatch(held -> held.state == Held.State.SUSPECT);
    }

    @Override
    public void guarded(Runnable step) {
      step.run();
    }
  }
}
