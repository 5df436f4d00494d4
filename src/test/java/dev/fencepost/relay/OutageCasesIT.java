package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.LagCause;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The broker goes away in every way: R03, R04, R11, R13, R20. No outage costs a row anything. */
class OutageCasesIT {
  private static RabbitServer broker;

  private final FencepostConfig.Relay relay =
      RelayConfigs.with(
          RelayConfigs.relay(4),
          new FencepostConfig.Relay.Limits(
              1 << 20, Duration.ofSeconds(2), Duration.ofMillis(200), Duration.ofSeconds(2), 1000));
  private Outbox outbox;
  private String queue;
  private RelayProcess process;

  @BeforeAll
  static void startBroker() {
    broker = RabbitServer.start();
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @BeforeEach
  void start() throws Exception {
    outbox = new Outbox(Databases.migrated(relay));
    outbox.noteParked();
    queue = "q" + System.nanoTime();
    try (Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.declare(queue, Map.of());
    }
  }

  @AfterEach
  void stop() {
    if (!broker.isRunning()) {
      broker.restart();
    }
    broker.resume();
    broker.memoryAlarm(false);
    broker.diskAlarm(false);
    process.close();
  }

  private RelayProcess relay(String uri) {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()),
        relay,
        vertx -> new RabbitBroker(vertx, RelayConfigs.broker(uri)).publisher(relay.limits()));
  }

  /** All are in the queue, in order per key, each under its own id, and nothing was parked. */
  private void awaitAll(int rows, int keys) throws Exception {
    try (Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.consume(queue);
      arrivals.await(rows, Duration.ofSeconds(60));
      assertThat(new ArrayList<>(arrivals.all).stream().map(each -> each.id() + each.text()))
          .as("a duplicate has the id of the first")
          .isSubsetOf(
              outbox.strings(
                  "select event_id || convert_from(payload, 'UTF8') from fencepost.outbox"));
      int[] last = new int[keys];
      java.util.Set<String> seen = new java.util.HashSet<>();
      for (String text : arrivals.texts()) {
        int n = Integer.parseInt(text);
        if (seen.add(text)) {
          assertThat(n).isGreaterThan(last[n % keys]);
          last[n % keys] = n;
        }
      }
    }
    assertNoneFailed();
  }

  private void assertNoneFailed() {
    assertThat(outbox.everParked()).as("parked, be it for a moment").isEmpty();
    assertThat(process.events.refused).isEmpty();
  }

  private List<String> causes() {
    return outbox.strings("select distinct lag_cause from fencepost.relay_lanes");
  }

  private long published() {
    return process.events.published.values().stream().mapToLong(n -> n).sum();
  }

  @Test
  void r03ABrokerKilledOnTheWayLosesNothing() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    for (int i = 0; i < 10; i++) {
      outbox.insertMany("", queue, 97, i * 1000 + 1, (i + 1) * 1000);
      if (i == 3 || i == 7) {
        broker.kill();
        broker.restart();
      }
    }
    awaitAll(10_000, 97);
  }

  @Test
  void r04NothingIsSettledWithoutAConfirm() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    outbox.insertMany("", queue, 97, 1, 100);
    Await.until("the first", () -> published() >= 100);
    long last = outbox.number("select max(seq) from fencepost.outbox");
    broker.pause();
    outbox.insertMany("", queue, 97, 101, 500);
    Await.until("broker_down is told", () -> causes().contains("broker_down"));
    assertThat(published()).isEqualTo(100);
    assertThat(
            outbox.number(
                "select count(*) from fencepost.outbox o, lateral (select *"
                    + " from fencepost.relay_checkpoints c where c.lane = o.lane"
                    + " order by n desc limit 1) c where o.seq > "
                    + last
                    + " and (pg_visible_in_snapshot(o.tx::text::xid8, c.last)"
                    + " or o.seq <= c.position"
                    + " and pg_visible_in_snapshot(o.tx::text::xid8, c.cur))"))
        .as("rows that a checkpoint has passed")
        .isZero();
    broker.resume();
    awaitAll(500, 97);
  }

  @Test
  void r11AnOutageFailsNoRow() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    outbox.insertMany("", queue, 50, 1, 100);
    Await.until("the first", () -> published() >= 100);
    process.events.mostUnconfirmed = 0;
    broker.eval("mnesia:dump_log()"); // that there is this queue: a paused node is killed as it is
    broker.pause();
    outbox.insertMany("", queue, 50, 101, 1000);
    Await.until("some are on their way", () -> process.events.mostUnconfirmed > 0);
    broker.kill();
    outbox.insertMany("", queue, 50, 1001, 2000);
    Await.until("broker_down is told", () -> causes().contains("broker_down"));
    TimeUnit.SECONDS.sleep(10);
    assertThat(
            outbox.strings(
                "select 1 from fencepost.relay_lanes where oldest_unpublished_at is not null"))
        .isNotEmpty();
    assertNoneFailed();
    broker.restart();
    awaitAll(2000, 50);
    Await.until("all is well", () -> causes().equals(List.of("none")));
  }

  /** A row that was refused before waits for the broker; nobody answers for it meanwhile. */
  @Test
  void r11AnOutageCostsAParkedRowNoAttempt() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    outbox.insert("", "absent-" + queue, "k", "1");
    Await.until("it is parked", () -> outbox.parked() == 1);
    broker.stop();
    Await.until("broker_down is told", () -> causes().contains("broker_down"));
    String attempt = "select attempts || ' ' || reason from fencepost.parked";
    List<String> before = outbox.strings(attempt);
    Await.until(
        "several times its longest backoff",
        () ->
            outbox.number(
                    "select count(*) from fencepost.parked"
                        + " where parked_at < now() - interval '12 seconds'")
                == 1);
    assertThat(outbox.strings(attempt)).isEqualTo(before);
    broker.restart();
    try (Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.declare("absent-" + queue, Map.of());
      arrivals.consume("absent-" + queue);
      arrivals.await(1, Duration.ofSeconds(60));
    }
    Await.until("none is parked", () -> outbox.parked() == 0);
  }

  /** Without heartbeats: they would find it, too, but later. */
  @Test
  void r13AHangingConnectionIsReplaced() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker.uri())) {
      process = relay(proxy.uri(broker.uri()) + "?heartbeat=0");
      Await.until("lanes", () -> process.lanes() == 4);
      outbox.insertMany("", queue, 50, 1, 500);
      Await.until("the first", () -> published() >= 500);
      int accepted = proxy.accepted();
      proxy.freeze();
      outbox.insertMany("", queue, 50, 501, 1500);
      Await.until("a new connection is tried", () -> proxy.accepted() > accepted);
      proxy.thaw();
      awaitAll(1500, 50);
      process.close();
      process = relay(broker.uri());
    }
  }

  /** One queue's process hangs: nothing sent there is confirmed, and nothing else is concerned. */
  @Test
  void r13AHangingSendHoldsUpNobodyElse() throws Exception {
    String hanging = "hanging-" + queue;
    try (TcpProxy proxy = TcpProxy.to(broker.uri());
        Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.declare(hanging, Map.of());
      arrivals.consume(queue);
      process = relay(proxy.uri(broker.uri()));
      Await.until("lanes", () -> process.lanes() == 4);
      outbox.insertMany("", queue, 50, 1, 100);
      Await.until("the first", () -> published() >= 100);
      int accepted = proxy.accepted();
      inQueue(hanging, "suspend");
      outbox.insert("", hanging, "hangs", "0");
      outbox.insertMany("", queue, 50, 101, 500);
      arrivals.await(500, Duration.ofSeconds(30));
      Await.until("it is sent anew, twice", () -> proxy.accepted() >= accepted + 2);
      assertThat(proxy.connections()).as("the others keep theirs").isGreaterThan(1);
      outbox.insertMany("", queue, 50, 501, 1000);
      arrivals.await(1000, Duration.ofSeconds(30));
      inQueue(hanging, "resume");
      arrivals.consume(hanging);
      arrivals.await(1001, Duration.ofSeconds(30));
      Await.until("all are settled", () -> published() >= 1001);
      List<String> elsewhere =
          outbox.strings(
              "select event_id from fencepost.outbox where lane <>"
                  + " (select lane from fencepost.outbox where key = 'hangs')");
      assertThat(new ArrayList<>(arrivals.all).stream().map(Arrivals.Arrival::id))
          .as("each row of the other lanes came once")
          .containsOnlyOnceElementsOf(elsewhere);
      assertNoneFailed();
      process.close();
      process = relay(broker.uri());
    }
  }

  private static void inQueue(String queue, String what) {
    broker.eval(
        "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\""
            + queue
            + "\">>)), sys:"
            + what
            + "(amqqueue:get_pid(Q))");
  }

  @Test
  void r20ABlockedBrokerIsToldAndItGoesOnByItself() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    outbox.insertMany("", queue, 50, 1, 100);
    Await.until("the first", () -> published() >= 100);
    broker.memoryAlarm(true);
    outbox.insertMany("", queue, 50, 101, 1000);
    Await.until("broker_blocked is told", () -> causes().contains("broker_blocked"));
    Await.until(
        "and as an event", () -> process.events.causes.containsValue(LagCause.BROKER_BLOCKED));
    broker.memoryAlarm(false);
    broker.diskAlarm(true);
    outbox.insertMany("", queue, 50, 1001, 1500);
    TimeUnit.SECONDS.sleep(2);
    broker.diskAlarm(false);
    awaitAll(1500, 50);
  }

  /** An attempt of each row waits for the broker; what operators ask does not. */
  @Test
  void operatorsAreObeyedWhileTheBrokerIsAway() throws Exception {
    process = relay(broker.uri());
    Await.until("lanes", () -> process.lanes() == 4);
    for (String key : List.of("skipped", "moved", "kept")) {
      outbox.insert("missing", "x", key, key + "1");
      outbox.insert("", queue, key, key + "2");
    }
    Await.until("six rows are parked", () -> outbox.parked() == 6);
    broker.stop();
    Await.until(
        "all are due, and wait for the broker",
        () ->
            outbox.number(
                    "select count(*) from fencepost.parked where next_attempt_at < now()"
                        + " - interval '2 seconds'")
                == 3);
    outbox.ask("skip", "skipped");
    outbox.ask("retry", "kept");
    outbox.redirect("moved", "", queue);
    Await.until(
        "all three are done",
        Duration.ofSeconds(10),
        () ->
            outbox.number("select count(*) from fencepost.parked_requests where outcome = 'done'")
                == 3);
    assertThat(outbox.strings("select convert_from(payload, 'UTF8') from fencepost.parked_rows"))
        .containsExactlyInAnyOrder("skipped2", "moved1", "moved2", "kept1", "kept2");
    broker.restart();
    try (Arrivals arrivals = new Arrivals(broker.uri())) {
      arrivals.channel.exchangeDeclare("missing", "fanout", true);
      arrivals.channel.queueBind(queue, "missing", "");
      arrivals.consume(queue);
      arrivals.await(5, Duration.ofSeconds(60));
      Await.until("none is parked", () -> outbox.parked() == 0);
      assertThat(arrivals.texts())
          .containsExactlyInAnyOrder("skipped2", "moved1", "moved2", "kept1", "kept2")
          .containsSubsequence("moved1", "moved2")
          .containsSubsequence("kept1", "kept2");
      arrivals.channel.exchangeDelete("missing");
    }
  }
}
