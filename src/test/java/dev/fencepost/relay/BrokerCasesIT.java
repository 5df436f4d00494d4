package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On a real broker: R16, R17, one event id twice, fan-out, several URIs. */
class BrokerCasesIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(1);
  private Outbox outbox;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() throws Exception {
    outbox = new Outbox(Databases.migrated(relay));
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  private RelayProcess process() {
    return RelayProcess.onRabbit(outbox.uri(), vhost, relay);
  }

  /** The others are confirmed after the last was refused, many of them by one confirm. */
  @Test
  void r16EachIsSettledByItsOwnConfirm() throws Exception {
    arrivals.declare("full", Map.of("x-max-length", 0, "x-overflow", "reject-publish"));
    arrivals.declare("written", Map.of()); // nobody takes them: they are confirmed once on disk
    outbox.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload)"
            + " select case n when 100 then 'full' else 'written' end, 't', 'k' || n, ''"
            + " from generate_series(1, 100) n");
    try (RelayProcess process = process()) {
      Await.until(
          "99 are settled",
          Duration.ofSeconds(20),
          () -> process.events.published.getOrDefault(0, 0L) >= 99);
      Await.until("the last is parked", () -> outbox.parked() == 1);
      // Retried, some times, it takes none of the others along.
      Await.until(
          "it was tried again", () -> outbox.number("select attempts from fencepost.parked") >= 3);
      assertThat(process.events.published.get(0)).isEqualTo(99);
      arrivals.consume("written");
      arrivals.await(99, Duration.ofSeconds(20));
      assertThat(arrivals.all).as("none was sent again").hasSize(99);
    }
  }

  /** 300 MB wait, of many rows or of few large ones; the process has 64. */
  @ParameterizedTest
  @CsvSource({"30000, 10000", "600, 500000"})
  void r17MemoryIsBoundedWhateverTheBacklog(int rows, int bytes) throws Exception {
    arrivals.declare("short", Map.of("x-max-length", 10));
    outbox.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload)"
            + (" select 'short', 't', 'k' || n % 1000, decode(repeat('ab', " + bytes + "), 'hex')")
            + (" from generate_series(1, " + rows + ") n"));
    try (RelayJvm jvm = RelayJvm.start("-Xmx64m", outbox.uri(), vhost, 1, 1000)) {
      Await.until(
          "the backlog is gone, or the memory",
          Duration.ofSeconds(120),
          () ->
              !jvm.alive()
                  || jvm.log().contains("OutOfMemoryError")
                  || outbox.number("select position from fencepost.relay_lanes") >= rows);
      assertThat(jvm.log()).doesNotContain("OutOfMemoryError");
      assertThat(jvm.alive()).isTrue();
      assertThat(outbox.parked()).isZero();
    }
  }

  /** A return names a message id only: the verdicts of the two are not mixed up. */
  @Test
  void twoRowsOfOneEventIdEachGetTheirOwnVerdict() {
    for (int i = 0; i < 20; i++) {
      outbox.execute(
          "insert into fencepost.outbox (event_id, routing_key, type, key, payload) values"
              + (" ('e" + i + "', 'nowhere', 't', 'a" + i + "', 'lost'),")
              + (" ('e" + i + "', 'q', 't', 'b" + i + "', 'found'),")
              + (" ('e" + i + "', 'q', 't', 'c" + i + "', 'twice')"));
    }
    try (RelayProcess process = process()) {
      Await.until("all that can", () -> arrivals.all.size() == 40);
      Await.until("the others are parked", () -> outbox.parked() == 20);
      assertThat(arrivals.texts()).doesNotContain("lost");
      assertThat(outbox.strings("select distinct routing_key from fencepost.parked"))
          .containsExactly("nowhere");
      assertThat(process.lanes()).isEqualTo(1);
    }
  }

  /** Ten queues of both kinds; one message and one confirm each event. */
  @Test
  void oneEventReachesEachQueueOfItsExchange() throws Exception {
    arrivals.channel.exchangeDeclare("all", "fanout", true);
    List<String> queues = IntStream.range(0, 10).mapToObj(n -> "fan-" + n).toList();
    for (String queue : queues) {
      boolean quorum = queues.indexOf(queue) % 2 == 0;
      arrivals.declare(queue, Map.of("x-queue-type", quorum ? "quorum" : "classic"));
      arrivals.channel.queueBind(queue, "all", "");
      arrivals.consume(queue);
    }
    outbox.insertMany("all", "order.placed", 5, 1, 50);
    try (RelayProcess process = process()) {
      Await.until("all", Duration.ofSeconds(60), () -> arrivals.all.size() == 500);
      for (String queue : queues) {
        List<String> its =
            arrivals.all.stream()
                .filter(each -> each.queue().equals(queue))
                .map(Arrivals.Arrival::text)
                .toList();
        assertThat(its).as(queue).hasSize(50).doesNotHaveDuplicates();
      }
      Await.until("all are settled", () -> process.events.published.get(0) == 50);
      assertThat(outbox.parked()).isZero();
    }
  }

  @Test
  void aDeadBrokerAmongTheUrisIsPassedOver() {
    passesOver("amqp://guest:guest@127.0.0.1:1/");
  }

  /** It takes the connection and says nothing: passed over when the login has taken too long. */
  @Test
  void aSilentBrokerAmongTheUrisIsPassedOver() {
    try (TcpProxy silent = TcpProxy.to(vhost)) {
      silent.freeze();
      passesOver(silent.uri(vhost));
      assertThat(silent.accepted()).as("tried, and not for each lane").isBetween(1, 3);
    }
  }

  private void passesOver(String first) {
    outbox.insertMany("", "q", 5, 1, 50);
    FencepostConfig.Broker cluster =
        new FencepostConfig.Broker(List.of(first, vhost), null, Duration.ofMinutes(30));
    try (RelayProcess process =
        new RelayProcess(
            RelayConfigs.database(outbox.uri()),
            relay,
            vertx -> new RabbitBroker(vertx, cluster).publisher(relay.limits()))) {
      arrivals.await(50, Duration.ofSeconds(60));
      assertThat(process.lanes()).isEqualTo(1);
    }
  }
}
