package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TestServers;
import java.net.URI;
import java.nio.charset.StandardCharsets;
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
    arrivals = Arrivals.of(vhost, "q");
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

  private void relay(FencepostConfig.Relay settings, FakePublisher.Broker broker) {
    process =
        new RelayProcess(
            RelayConfigs.database(outbox.uri()),
            settings,
            vertx -> new FakePublisher(vertx, broker));
  }

  private void awaitParked(long rows) {
    Await.asserted(
        rows + " parked rows",
        Duration.ofSeconds(15),
        () -> assertThat(outbox.parked()).isEqualTo(rows));
  }

  @Test
  void r01AMissingExchangeParksTheRowAndIsPublishedOnceItExists() throws Exception {
    outbox.noteParked();
    outbox.insertMany("", "q", 50, 1, 500);
    outbox.insert("missing", "q", "bad", "first");
    outbox.insertMany("", "q", 50, 501, 1000);
    outbox.insert("missing", "q", "bad", "second");
    outbox.insert("", "q", "bad", "third");
    relay();
    arrivals.await(1000, Duration.ofSeconds(15));
    awaitParked(3);
    assertThat(outbox.reasons()).containsExactly("behind_key", "exchange_missing");
    assertThat(outbox.everParked()).containsExactly("first", "second", "third");
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
    outbox.noteParked();
    arrivals.channel.exchangeDeclare("closed", "topic", true);
    arrivals.channel.queueBind("q", "closed", "#");
    String user = limitedUser();
    outbox.insertMany("", "q", 20, 1, 100);
    outbox.insert("closed", "q", "a", "first");
    outbox.insert("", "q", "a", "second");
    outbox.insertMany("", "q", 20, 101, 200);
    relay();
    arrivals.await(200, Duration.ofSeconds(30));
    awaitParked(2);
    assertThat(outbox.reasons()).containsExactly("access_refused", "behind_key");
    assertThat(outbox.everParked()).containsExactly("first", "second");
    TestServers.broker().permit(user, vhostName(), "", "amq\\.default|closed", "");
    arrivals.await(202, Duration.ofSeconds(30));
    awaitParked(0);
    assertThat(arrivals.texts()).containsSubsequence("first", "second");
  }

  /** The relay's user from now on: it may write to the default exchange and to those named. */
  private String limitedUser(String... exchanges) {
    String name = "limited-" + System.nanoTime();
    String writes = String.join("|", exchanges);
    vhost =
        TestServers.broker()
            .addUser(
                vhost,
                name,
                "secret",
                "",
                "amq\\.default" + (writes.isEmpty() ? "" : "|" + writes),
                "");
    return name;
  }

  private String vhostName() {
    return URI.create(vhost).getPath().substring(1);
  }

  /** The broker gives rights by topic, too: then an exchange is closed to some of its rows only. */
  @Test
  void aRefusedTopicParksItsRowsOnly() throws Exception {
    arrivals.channel.exchangeDeclare("topics", "topic", true);
    arrivals.channel.queueBind("q", "topics", "#");
    String user = limitedUser("topics");
    TestServers.broker()
        .eval(
            "rabbit_auth_backend_internal:set_topic_permissions(<<\"%s\">>, <<\"%s\">>,"
                    .formatted(user, vhostName())
                + " <<\"topics\">>, <<\"^open\">>, <<\"\">>, <<\"test\">>)");
    outbox.insertMany("topics", "open.a", 50, 1, 200);
    outbox.insert("topics", "shut.a", "bad", "bad");
    outbox.insertMany("topics", "open.b", 50, 201, 400);
    relay();
    arrivals.await(400, Duration.ofSeconds(30));
    awaitParked(1);
    assertThat(outbox.reasons()).containsExactly("access_refused");
    assertThat(arrivals.all).as("sent twice").hasSizeLessThan(1200);
    long attempts = outbox.number("select attempts from fencepost.parked");
    for (int i = 401; i <= 800; i += 20) {
      outbox.insertMany("topics", "open.c", 20, i, i + 19);
      arrivals.await(i + 19, Duration.ofSeconds(5));
    }
    Await.until(
        "it was tried again, some times",
        () -> outbox.number("select attempts from fencepost.parked") >= attempts + 3);
    outbox.insertMany("topics", "open.d", 20, 801, 820);
    arrivals.await(820, Duration.ofSeconds(5));
    assertThat(outbox.number("select count(*) from fencepost.parked")).isEqualTo(1);
  }

  /** Names a consumer of ours that there is not: the broker answers as it does to a large body. */
  @Test
  void aPropertyThatTheBrokerRefusesIsNoQuestionOfSize() throws Exception {
    relay();
    outbox.insertMany("", "q", 20, 1, 50);
    outbox.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload, properties)"
            + " values ('q', 't', 'reply', '', '{\"reply_to\": \"amq.rabbitmq.reply-to\"}'),"
            + " ('q', 't', 'user', '', '{\"user_id\": \"somebody\"}')");
    awaitParked(2);
    assertThat(outbox.reasons()).containsExactly("invalid_property");
    arrivals.await(50, Duration.ofSeconds(10));
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

  /** More of them than the window holds: they do not keep it, and are not tried before others. */
  @Test
  void r12BadRowsAtTheHeadDoNotStarveTheRest() throws Exception {
    for (int i = 0; i < 100; i++) {
      outbox.insert(i % 2 == 0 ? "missing" : "", "x", "bad" + i, "bad");
    }
    outbox.insertMany("", "q", 100, 1, 5000);
    outbox.noteParked();
    relay(
        RelayConfigs.with(
            relay,
            new FencepostConfig.Relay.Paging(
                10, 20, 1 << 20, Duration.ofMillis(2), Duration.ofMillis(250))));
    arrivals.await(5000, Duration.ofSeconds(30));
    awaitParked(100);
    assertThat(outbox.reasons()).containsExactly("exchange_missing", "unroutable");
    assertThat(outbox.everParked()).containsExactly("bad");
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
    Await.until(
        "both are tried again",
        () -> outbox.number("select min(attempts) from fencepost.parked") > 1);
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

  /** They were parked for something else: one finds out, and no other closes a channel for it. */
  @Test
  void parkedRowsWhoseExchangeIsGoneDoNotCloseAChannelEach() {
    FakePublisher.Broker broker = new FakePublisher.Broker();
    broker.refuses = row -> ParkedReason.UNROUTABLE;
    Limits patient =
        new Limits(
            16 << 20, Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofHours(1), 100_000);
    relay(RelayConfigs.with(relay, patient), broker);
    outbox.insertMany("x", "r", 60, 1, 60);
    awaitParked(60);
    broker.closes = row -> ParkedReason.EXCHANGE_MISSING;
    int before = broker.opened.get();
    String due = "select count(*) from fencepost.parked_rows where next_attempt_at <= now()";
    Await.until(
        "they are due, and one is tried",
        () -> process.events.refused.containsKey(ParkedReason.EXCHANGE_MISSING));
    Await.until("all are put off", () -> outbox.number(due) == 0);
    assertThat(broker.opened.get() - before).isLessThan(30);
  }

  /** A broker that takes one routing key only, and refused another just now. */
  private FakePublisher.Broker takingOnlyYes() {
    FakePublisher.Broker broker = new FakePublisher.Broker();
    broker.closes =
        row -> row.route().routingKey().equals("yes") ? null : ParkedReason.ACCESS_REFUSED;
    outbox = new Outbox(Databases.migrated(RelayConfigs.relay(1)));
    relay(RelayConfigs.relay(1), broker);
    outbox.insert("x", "no", null, "0");
    awaitParked(1);
    return broker;
  }

  /** However many rows of a refused routing key wait before it. */
  @Test
  void anAllowedRoutingKeyIsFoundAmongManyRefusedOnes() {
    FakePublisher.Broker broker = takingOnlyYes();
    outbox.execute(
        "insert into fencepost.outbox (exchange, routing_key, type, payload) select 'x',"
            + " case when n <= 20 then 'no' when n <= 40 then 'nor' else 'yes' end, 't', ''"
            + " from generate_series(1, 41) n");
    Await.until("it is found", () -> !broker.rows().isEmpty());
    assertThat(process.events.refused.get(ParkedReason.ACCESS_REFUSED))
        .as("of forty that may not go")
        .isLessThan(20);
  }

  /** More than are read at once, and three keys whose rows alone are as many. */
  @Test
  void anAllowedRoutingKeyIsFoundBehindMoreThanIsReadAtOnce() {
    FakePublisher.Broker broker = takingOnlyYes();
    outbox.execute(
        "insert into fencepost.outbox (exchange, routing_key, type, key, payload) select 'x',"
            + " case when n <= 300 then 'no' when n <= 600 then 'nor' else 'yes' end, 't',"
            + " case when n between 301 and 600 then 'k' || n % 3 end, ''"
            + " from generate_series(1, 601) n");
    Await.until("it is found", () -> !broker.rows().isEmpty());
    assertThat(process.events.refused.get(ParkedReason.ACCESS_REFUSED))
        .as("of six hundred that may not go")
        .isLessThan(30);
  }

  /** Two rows of a key are refused before either answer is there, and a third waits behind them. */
  @Test
  void parkedRowsOfAKeyThatWereOutTogetherGoOutOnceAndInOrder() {
    FakePublisher.Broker broker = new FakePublisher.Broker();
    outbox.insertMany("x", "r", 1, 1, 2);
    broker.refuses = row -> ParkedReason.UNROUTABLE;
    relay(RelayConfigs.pipelined(relay), broker);
    awaitParked(2);
    outbox.insert("x", "r", "k0", "3");
    awaitParked(3);
    broker.refuses = row -> null;
    awaitParked(0);
    assertThat(broker.rows().stream().map(RefusalCasesIT::text)).containsExactly("1", "2", "3");
  }

  private static String text(OutboxRow row) {
    return new String(row.message().body(), StandardCharsets.UTF_8);
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
