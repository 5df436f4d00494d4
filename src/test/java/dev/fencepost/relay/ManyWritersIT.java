package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PgBouncer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/**
 * The proof of the snapshot cursor by trial: many writers in every awkward way; every committed row
 * arrives once, in the order of its key. {@code -Dfencepost.writers.seconds=600} tries longer.
 */
class ManyWritersIT {
  private static final int SECONDS = Integer.getInteger("fencepost.writers.seconds", 10);
  private static final FencepostConfig.Relay RELAY =
      RelayConfigs.with(
          RelayConfigs.relay(4),
          new FencepostConfig.Relay.Paging(
              50, 100, 1 << 20, Duration.ofMillis(2), Duration.ofMillis(50)));

  @RepeatedTest(2)
  void everyCommittedRowArrivesOnceAndInOrder() throws Exception {
    String uri = Databases.migrated(RELAY);
    arriveOnceAndInOrder(uri, uri, 8);
  }

  /** Fewer writers: the transactions of others make up for a mark that is late. */
  @Test
  void everyCommittedRowArrivesOnceAndInOrderBehindAPooler() throws Exception {
    assumeTrue(PgBouncer.installed(), "pgbouncer is not installed");
    String uri = Databases.migrated(RELAY);
    try (PgBouncer pooler = PgBouncer.start(uri, Map.of("default_pool_size", "5"))) {
      arriveOnceAndInOrder(uri, pooler.uri(uri) + "?pgbouncer=true", 2);
    }
  }

  /**
   * @param relays the same database as the relays reach it
   */
  private static void arriveOnceAndInOrder(String uri, String relays, int count) throws Exception {
    FakePublisher.Broker broker = new FakePublisher.Broker();
    try (Writers writers = new Writers(uri, "q", 1500);
        RelayProcess first =
            new RelayProcess(
                RelayConfigs.database(relays), RELAY, vertx -> new FakePublisher(vertx, broker));
        RelayProcess second =
            new RelayProcess(
                RelayConfigs.database(relays), RELAY, vertx -> new FakePublisher(vertx, broker))) {
      writers.start(count, System.nanoTime());
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
