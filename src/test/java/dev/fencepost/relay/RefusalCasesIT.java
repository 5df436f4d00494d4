package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rows that the broker refuses: R01, R02, R05, R06, R09, R12, R21. */
class RefusalCasesIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(4);
  private Outbox outbox;
  private String vhost;
  private Arrivals arrivals;
  private RelayProcess process;

  @BeforeEach
  void start() throws Exception {
    outbox = new Outbox(Databases.migrated(relay));
    vhost = TestServers.broker().newVhost();
    arrivals = new Arrivals(vhost);
    arrivals.declare("q", Map.of());
    arrivals.consume("q");
  }

  @AfterEach
  void stop() {
    if (process != null) {
      process.close();
    }
    arrivals.close();
  }

  private void relay() {
    relay(relay);
  }

  private void relay(FencepostConfig.Relay settings) {
    process = RelayProcess.onRabbit(outbox.uri(), vhost, settings);
  }

  private void awaitParked(long rows) {
    Await.asserted(
        rows + " parked rows",
        Duration.ofSeconds(15),
        () -> assertThat(outbox.parked()).isEqualTo(rows));
  }

  @Test
  void r01AMissingExchangeParksTheRowAndIsPublishedOnceItExists() throws Exception {
    outbox.insertMany("", "q", 50, 1, 500);
    outbox.insert("missing", "q", "bad", "first");
    outbox.insertMany("", "q", 50, 501, 1000);
    outbox.insert("missing", "q", "bad", "second");
    outbox.insert("", "q", "bad", "third");
    relay();
    arrivals.await(1000, Duration.ofSeconds(15));
    awaitParked(3);
    assertThat(outbox.reasons()).containsExactly("behind_key", "exchange_missing");
    assertThat(arrivals.all).as("no other row was sent twice").hasSizeLessThan(2000);
    arrivals.channel.exchangeDeclare("missing", "topic", true);
    arrivals.channel.queueBind("q", "missing", "#");
    outbox.ask("retry", "bad");
    arrivals.await(1003, Duration.ofSeconds(15));
    awaitParked(0);
    assertThat(arrivals.texts()).containsSubsequence("first", "second", "third");
    outbox.insert("", "q", "bad", "fourth");
    arrivals.await(1004, Duration.ofSeconds(5));
  }

  @Test
  void r02AnUnroutableRowIsParkedAndPublishedWhenTheBindingIsBack() throws Exception {
    arrivals.channel.exchangeDeclare("orders", "topic", true);
    relay();
    outbox.insert("orders", "order.placed", "a", "1");
    outbox.insert("orders", "order.placed", "a", "2");
    outbox.insert("orders", "order.placed", null, "3");
    awaitParked(3);
    assertThat(outbox.reasons()).containsExactly("behind_key", "unroutable");
    arrivals.channel.queueBind("q", "orders", "order.#");
    arrivals.await(3, Duration.ofSeconds(10));
    awaitParked(0);
    assertThat(arrivals.texts()).containsSubsequence("1", "2");
  }

  @Test
  void r05ARefusedAccessParksItsRowsOnly() throws Exception {
    arrivals.channel.exchangeDeclare("closed", "topic", true);
    arrivals.channel.queueBind("q", "closed", "#");
    String name = "limited-" + System.nanoTime();
    vhost = TestServers.broker().addUser(vhost, name, "secret", "", "amq\\.default|open", "");
    relay();
    outbox.insert("closed", "q", "a", "closed");
    outbox.insertMany("", "q", 20, 1, 200);
    awaitParked(1);
    assertThat(outbox.reasons()).containsExactly("access_refused");
    arrivals.await(200, Duration.ofSeconds(10));
  }

  @Test
  void r06AFullQueueThatRejectsIsARefusalWithinASecond() throws Exception {
    arrivals.declare("full", Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
    relay();
    outbox.insert("", "full", null, "fits");
    Await.until("the first", () -> process.events.published.values().stream().anyMatch(n -> n > 0));
    long before = System.nanoTime();
    outbox.insert("", "full", null, "too much");
    awaitParked(1);
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
    assertThat(outbox.reasons()).containsExactly("rejected");
    outbox.insertMany("", "q", 20, 1, 100);
    arrivals.await(100, Duration.ofSeconds(10));
    arrivals.channel.queuePurge("full");
    awaitParked(0);
  }

  /** The first of three is refused while the others could go: never 2, 3, 1. */
  @Test
  void r09ARefusedRowIsNeverOvertakenByItsKey() throws Exception {
    arrivals.channel.exchangeDeclare("late", "topic", true);
    relay();
    for (int i = 0; i < 20; i++) {
      outbox.execute(
          "insert into fencepost.outbox (exchange, routing_key, type, key, payload) values"
              + " ('late', 'x', 't', 'o"
              + i
              + "', '"
              + i
              + ":1'),"
              + " ('', 'q', 't', 'o"
              + i
              + "', '"
              + i
              + ":2'),"
              + " ('', 'q', 't', 'o"
              + i
              + "', '"
              + i
              + ":3')");
    }
    awaitParked(60);
    arrivals.channel.queueBind("q", "late", "#");
    arrivals.await(60, Duration.ofSeconds(20));
    for (int i = 0; i < 20; i++) {
      String prefix = i + ":";
      assertThat(arrivals.texts().stream().filter(text -> text.startsWith(prefix)).toList())
          .containsExactly(prefix + "1", prefix + "2", prefix + "3");
    }
  }

  @Test
  void r12BadRowsAtTheHeadDoNotStarveTheRest() throws Exception {
    for (int i = 0; i < 100; i++) {
      outbox.insert("missing", "x", "bad" + i, "bad");
    }
    outbox.insertMany("", "q", 100, 1, 5000);
    relay();
    arrivals.await(5000, Duration.ofSeconds(15));
    awaitParked(100);
  }

  @Test
  void r21ARowAboveTheBrokersLimitIsParkedAlone() throws Exception {
    try (RabbitServer small = RabbitServer.start(Map.of("max_message_size", "100000"));
        Arrivals there = new Arrivals(small.uri())) {
      there.declare("q", Map.of());
      there.consume("q");
      vhost = small.uri();
      outbox.insertMany("", "q", 20, 1, 300);
      outbox.execute(
          "insert into fencepost.outbox (routing_key, type, key, payload)"
              + " values ('q', 't', 'big', convert_to(repeat('x', 200000), 'UTF8'))");
      outbox.insertMany("", "q", 20, 301, 600);
      relay();
      there.await(600, Duration.ofSeconds(20));
      awaitParked(1);
      assertThat(outbox.reasons()).containsExactly("too_large");
      assertThat(process.events.refused.keySet())
          .as("the others were not refused for a while, either")
          .containsExactly(ParkedReason.TOO_LARGE);
      process.close();
      process = null;
    }
  }

  /** Above our own limit: it is not sent at all. */
  @Test
  void aRowAboveOurLimitIsParkedBeforeItIsSent() throws Exception {
    relay(
        RelayConfigs.with(
            relay,
            new FencepostConfig.Relay.Limits(
                1000,
                Duration.ofSeconds(30),
                Duration.ofMillis(200),
                Duration.ofSeconds(2),
                1000)));
    outbox.insert("", "q", "big", "x".repeat(1001));
    outbox.insert("", "q", "fits", "y".repeat(1000));
    outbox.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload, properties)"
            + " values ('q', 't', 'bad', '', '{\"priority\": \"high\"}')");
    awaitParked(2);
    assertThat(outbox.reasons()).containsExactly("invalid_property", "too_large");
    arrivals.await(1, Duration.ofSeconds(5));
  }

  @Test
  void fiveHundredRowsToAMissingExchangeDoNotCloseFiveHundredChannels() throws Exception {
    relay();
    Await.until("all lanes", () -> process.lanes() == 4);
    outbox.insertMany("missing", "x", 500, 1, 500);
    awaitParked(500);
    assertThat(process.events.refused.getOrDefault(ParkedReason.EXCHANGE_MISSING, 0L))
        .isLessThan(40);
    arrivals.channel.exchangeDeclare("missing", "fanout", true);
    arrivals.channel.queueBind("q", "missing", "");
    arrivals.await(500, Duration.ofSeconds(20));
    awaitParked(0);
  }

  @Test
  void aFullTableOfParkedRowsPausesItsLanesAndSaysSo() throws Exception {
    relay(
        RelayConfigs.with(
            RelayConfigs.relay(4),
            new FencepostConfig.Relay.Limits(
                1 << 20,
                Duration.ofSeconds(30),
                Duration.ofMillis(200),
                Duration.ofSeconds(2),
                50)));
    for (int i = 0; i < 8; i++) {
      outbox.insertMany("", "nowhere", 100, i * 20, i * 20 + 19);
    }
    Await.until(
        "parked_full",
        Duration.ofSeconds(15),
        () ->
            outbox.strings("select lag_cause from fencepost.relay_lanes").contains("parked_full"));
    assertThat(outbox.parked()).isLessThan(160);
    arrivals.declare("nowhere", Map.of());
    arrivals.consume("nowhere");
    arrivals.await(160, Duration.ofSeconds(30));
    awaitParked(0);
  }

  @Test
  void operatorsSkipAndRedirectParkedRows() throws Exception {
    relay();
    outbox.insert("missing", "x", "a", "a1");
    outbox.insert("", "q", "a", "a2");
    outbox.insert("missing", "x", "b", "b1");
    outbox.insert("", "q", "b", "b2");
    awaitParked(4);
    outbox.ask("skip", "a");
    outbox.redirect("b", "", "q");
    arrivals.await(3, Duration.ofSeconds(10));
    List<String> texts = new ArrayList<>(arrivals.texts());
    assertThat(texts).containsExactlyInAnyOrder("a2", "b1", "b2").containsSubsequence("b1", "b2");
    awaitParked(0);
  }

  /** A new owner knows what is parked: it neither sends it twice nor past its order. */
  @Test
  void aTakeOverSkipsWhatIsParked() throws Exception {
    relay();
    outbox.insert("missing", "x", "a", "a1");
    outbox.insertMany("", "q", 10, 1, 100);
    awaitParked(1);
    process.kill();
    outbox.insert("", "q", "a", "a2");
    relay();
    awaitParked(2);
    arrivals.channel.exchangeDeclare("missing", "fanout", true);
    arrivals.channel.queueBind("q", "missing", "");
    arrivals.await(102, Duration.ofSeconds(20));
    Map<String, Integer> counts = new HashMap<>();
    arrivals.texts().forEach(text -> counts.merge(text, 1, Integer::sum));
    assertThat(counts).containsEntry("a1", 1).containsEntry("a2", 1);
    assertThat(arrivals.texts()).containsSubsequence("a1", "a2");
  }
}
