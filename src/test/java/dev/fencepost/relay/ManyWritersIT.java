package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;

/**
 * The proof of the snapshot cursor by trial: many writers in every awkward way; every committed row
 * arrives once, in the order of its key. {@code -Dfencepost.writers.seconds=600} tries longer.
 */
class ManyWritersIT {
  private static final int SECONDS = Integer.getInteger("fencepost.writers.seconds", 10);

  @RepeatedTest(2)
  void everyCommittedRowArrivesOnceAndInOrder(org.junit.jupiter.api.RepetitionInfo repetition)
      throws Exception {
    FencepostConfig.Relay relay =
        RelayConfigs.with(
            RelayConfigs.relay(4),
            new FencepostConfig.Relay.Paging(
                50, 100, 1 << 20, Duration.ofMillis(2), Duration.ofMillis(50)));
    String uri = Databases.migrated(relay);
    FakePublisher.Broker broker = new FakePublisher.Broker();
    long seed = System.nanoTime();
    try (Writers writers = new Writers(uri, "q", 1500);
        RelayProcess first =
            new RelayProcess(
                RelayConfigs.database(uri), relay, vertx -> new FakePublisher(vertx, broker));
        RelayProcess second =
            new RelayProcess(
                RelayConfigs.database(uri), relay, vertx -> new FakePublisher(vertx, broker))) {
      writers.start(8, repetition.getCurrentRepetition() * seed);
      TimeUnit.SECONDS.sleep(SECONDS);
      writers.finish();
      Await.asserted(
          "every committed row",
          Duration.ofSeconds(20),
          () -> assertThat(bodies(broker)).containsAll(writers.committed));
      List<String> arrived = bodies(broker);
      Set<String> distinct = new HashSet<>(arrived);
      assertThat(arrived).as("none twice").hasSize(distinct.size());
      assertThat(distinct).isEqualTo(new HashSet<>(writers.committed));
      Writers.assertOrdered(arrived);
    }
  }

  private static List<String> bodies(FakePublisher.Broker broker) {
    return broker.rows().stream()
        .map((OutboxRow row) -> new String(row.message().body(), StandardCharsets.UTF_8))
        .toList();
  }
}
