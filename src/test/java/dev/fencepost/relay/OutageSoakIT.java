package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** R11, for as long as an outage lasts. */
@Tag("soak")
class OutageSoakIT {
  private static final int KEYS = 97;
  private static final int EACH_TIME = 10;

  private final FencepostConfig.Relay relay = RelayConfigs.relay(4);

  @Test
  void aBrokerThatIsAwayForTenMinutesCostsNoRowAnything() throws Exception {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    try (RabbitServer broker = RabbitServer.start()) {
      try (Arrivals arrivals = new Arrivals(broker.uri())) {
        arrivals.declare("q", Map.of());
      }
      try (RelayProcess process = RelayProcess.onRabbit(outbox.uri(), broker.uri(), relay)) {
        Await.until("lanes", () -> process.lanes() == 4);
        outbox.insert("missing", "x", "refused", "refused");
        Await.until("it is parked", () -> outbox.parked() == 1);
        int rows = away(outbox, broker);
        long restarted = System.nanoTime();
        broker.restart();
        awaitAll(outbox, broker, rows);
        System.out.printf(
            "outage: %d s away, %d rows written meanwhile, all there %.1f s after its return%n",
            Soak.duration().toSeconds(), rows, (System.nanoTime() - restarted) / 1e9);
        assertThat(process.events.refused.keySet())
            .containsExactly(dev.fencepost.model.ParkedReason.EXCHANGE_MISSING);
      }
    }
  }

  /** Writes as long as the broker is away; returns how many rows. */
  private static int away(Outbox outbox, RabbitServer broker) throws Exception {
    AtomicInteger written = new AtomicInteger();
    Runnable write =
        () -> {
          int from = written.get() + 1;
          outbox.insertMany("", "q", KEYS, from, from + EACH_TIME - 1);
          written.addAndGet(EACH_TIME);
        };
    try (Soak.Steady writer = new Soak.Steady(Duration.ofMillis(100), write)) {
      Await.until("the first are out", () -> written.get() >= 100);
      broker.stop();
      Await.until(
          "broker_down is told",
          () ->
              outbox
                  .strings("select distinct lag_cause from fencepost.relay_lanes")
                  .contains("broker_down"));
      long attempts = attempts(outbox);
      Soak.pass(Soak.duration());
      writer.finish();
      assertThat(outbox.strings("select event_id from fencepost.parked")).hasSize(1);
      assertThat(attempts(outbox)).isEqualTo(attempts);
      return written.get();
    }
  }

  private static long attempts(Outbox outbox) {
    return outbox.number("select attempts from fencepost.parked where reason <> 'behind_key'");
  }

  private static void awaitAll(Outbox outbox, RabbitServer broker, int rows) throws Exception {
    try (Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.consume("q");
      arrivals.await(rows, Duration.ofMinutes(3));
      int[] last = new int[KEYS];
      Set<String> seen = new HashSet<>();
      for (String text : arrivals.texts()) {
        int n = Integer.parseInt(text);
        if (seen.add(text)) {
          assertThat(n).isGreaterThan(last[n % KEYS]);
          last[n % KEYS] = n;
        }
      }
    }
    assertThat(outbox.reasons()).isEqualTo(List.of("exchange_missing"));
    assertThat(outbox.parked()).isEqualTo(1);
  }
}
