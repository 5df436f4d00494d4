package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From the outbox to real queues. */
class RelayRabbitIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);
  private String database;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() {
    database = Databases.migrated(relay);
    vhost = TestServers.broker().newVhost();
    arrivals = new Arrivals(vhost);
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  @Test
  void deliversEveryRowToAQuorumQueueInOrderPerKey() throws Exception {
    arrivals.declare("orders", Map.of("x-queue-type", "quorum"));
    arrivals.consume("orders");
    try (RelayProcess process = RelayProcess.onRabbit(database, vhost, relay)) {
      for (int i = 0; i < 10; i++) {
        PostgresServer.execute(
            database,
            "insert into fencepost.outbox (routing_key, type, key, payload)"
                + " select 'orders', 't', 'k' || n % 100, convert_to(n::text, 'UTF8')"
                + " from generate_series("
                + (i * 1000 + 1)
                + ", "
                + (i + 1) * 1000
                + ") n");
      }
      arrivals.await(10_000, Duration.ofSeconds(30));
      assertThat(arrivals.all).hasSize(10_000);
      Map<String, Integer> last = new HashMap<>();
      for (Arrivals.Arrival each : arrivals.all) {
        int n = Integer.parseInt(each.text());
        assertThat(each.key()).isEqualTo("k" + n % 100);
        Integer before = last.put(each.key(), n);
        assertThat(before == null ? 0 : before).isLessThan(n);
      }
      assertThat(process.events.refused).isEmpty();
    }
  }
}
