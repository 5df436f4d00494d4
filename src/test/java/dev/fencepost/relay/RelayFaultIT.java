package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A fault of ours costs a lane a moment and no row. */
class RelayFaultIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(1);
  private final FakePublisher.Broker broker = new FakePublisher.Broker();

  @Test
  void aLaneThatFailsIsTakenAnewAndLosesNothing() {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    AtomicInteger sent = new AtomicInteger();
    broker.refuses =
        row -> {
          if (sent.incrementAndGet() == 5) {
            throw new AssertionError("a fault");
          }
          return null;
        };
    try (RelayProcess process =
        new RelayProcess(
            RelayConfigs.database(outbox.uri()),
            relay,
            vertx -> new FakePublisher(vertx, broker))) {
      Await.until("the lane", () -> process.lanes() == 1);
      outbox.insertMany("", "q", 10, 1, 10);
      Await.until(
          "all rows",
          () ->
              broker.rows().stream()
                  .map(OutboxRow::seq)
                  .toList()
                  .containsAll(LongStream.rangeClosed(1, 10).boxed().toList()));
      assertThat(outbox.number("select fence from fencepost.relay_lanes")).isEqualTo(2);
    }
  }
}
