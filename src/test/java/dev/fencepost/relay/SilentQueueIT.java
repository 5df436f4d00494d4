package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A queue confirms nothing for long while the others of its lane do: R13 beyond what a lane's
 * window holds.
 */
class SilentQueueIT {
  private static final int WINDOW = 100;
  private static RabbitServer broker;

  private final FencepostConfig.Relay relay =
      RelayConfigs.with(
          RelayConfigs.with(
              RelayConfigs.relay(1),
              new FencepostConfig.Relay.Limits(
                  1 << 20,
                  Duration.ofSeconds(2),
                  Duration.ofMillis(200),
                  Duration.ofSeconds(2),
                  100_000)),
          new FencepostConfig.Relay.Paging(
              50, WINDOW, 16 << 20, Duration.ofMillis(2), Duration.ofMillis(250)));
  private Outbox outbox;
  private String queue;
  private String silent;
  private Arrivals arrivals;
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
    queue = "q" + System.nanoTime();
    silent = "silent-" + queue;
    arrivals = Arrivals.of(broker.uri(), queue);
    arrivals.declare(silent, Map.of());
    process = RelayProcess.onRabbit(outbox.uri(), broker.uri(), relay);
    Await.until("lanes", () -> process.lanes() == 1);
    outbox.insertMany("", queue, 50, 1, 20);
    arrivals.await(20, Duration.ofSeconds(30));
    suspend(silent);
  }

  @AfterEach
  void stop() {
    process.close();
    arrivals.close();
  }

  private static void suspend(String queue) {
    inQueue(queue, "suspend");
  }

  private static void inQueue(String queue, String what) {
    broker.eval(
        "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\""
            + queue
            + "\">>)), sys:"
            + what
            + "(amqqueue:get_pid(Q))");
  }

  private String detail() {
    return String.valueOf(
        outbox.strings("select lag_cause || ': ' || lag_detail from fencepost.relay_lanes"));
  }

  /** 2,000 rows, each of a key of its own. */
  private void insertSilent(String exchange, String routingKey) {
    outbox.execute(
        "insert into fencepost.outbox (exchange, routing_key, type, key, payload) select '"
            + exchange
            + "', "
            + routingKey
            + ", 't', 'silent' || n, convert_to(n::text, 'UTF8')"
            + " from generate_series(10001, 12000) n");
  }

  /** The queue answers again: all of its rows come. */
  private void awaitSilent(int all) throws Exception {
    inQueue(silent, "resume");
    arrivals.consume(silent);
    arrivals.await(all, Duration.ofSeconds(60));
    Await.until("none is parked", () -> outbox.parked() == 0);
    Await.until("all is well", () -> detail().equals("[null]"));
  }

  @Test
  void oneRowThatIsNotConfirmedDoesNotStopItsLane() throws Exception {
    outbox.insert("", silent, "a", "first");
    outbox.insert("", queue, "a", "second");
    outbox.insertMany("", queue, 50, 21, 2_000);
    outbox.insert("", silent, "a", "third");
    arrivals.await(2_000, Duration.ofSeconds(30));
    assertThat(outbox.strings("select distinct key from fencepost.parked")).containsExactly("a");
    assertThat(outbox.number("select max(attempts) from fencepost.parked"))
        .as("it was not refused")
        .isZero();
    assertThat(process.events.refused).isEmpty();
    Await.until("it is told which", () -> detail().contains("routing_key=" + silent));
    awaitSilent(2_003);
    assertThat(arrivals.texts()).containsSubsequence("first", "second", "third");
  }

  /** More than the broker takes in for such a queue before it stops reading from the sender. */
  @Test
  void manyRowsThatAreNotConfirmedDoNotStopTheirLane() throws Exception {
    insertSilent("", "'" + silent + "'");
    outbox.insertMany("", queue, 50, 21, 2_000);
    arrivals.await(2_000, Duration.ofSeconds(60));
    outbox.insertMany("", queue, 50, 2_001, 4_000);
    arrivals.await(4_000, Duration.ofSeconds(5));
    awaitSilent(6_000);
  }

  /** Each row has a routing key of its own: there is no end to the destinations. */
  @Test
  void routingKeysWithoutEndDoNotStopTheirLane() throws Exception {
    arrivals.channel.exchangeDeclare("topics-" + silent, "topic", true);
    arrivals.channel.queueBind(silent, "topics-" + silent, "#");
    insertSilent("topics-" + silent, "'r.' || n");
    outbox.insertMany("", queue, 50, 21, 2_000);
    arrivals.await(2_000, Duration.ofSeconds(60));
    outbox.insertMany("", queue, 50, 2_001, 4_000);
    arrivals.await(4_000, Duration.ofSeconds(5));
    awaitSilent(6_000);
  }

  /**
   * One queue of an exchange is silent, with more rows than the broker takes in before it stops
   * reading, and the other routing keys wait behind them.
   */
  @Test
  void oneSilentRoutingKeyDoesNotHoldUpTheOthersOfItsExchange() throws Exception {
    String exchange = "topics-" + silent;
    arrivals.channel.exchangeDeclare(exchange, "topic", true);
    arrivals.channel.queueBind(silent, exchange, "dead");
    arrivals.channel.queueBind(queue, exchange, "r.*");
    insertSilent(exchange, "case when n % 4 > 0 then 'dead' else 'r.' || n % 32 end");
    arrivals.await(20 + 500, Duration.ofSeconds(30));
    outbox.insertMany("", queue, 50, 21, 200);
    arrivals.await(200 + 500, Duration.ofSeconds(5));
    awaitSilent(200 + 2_000);
  }

  /** Where all were parked, one that is confirmed is found among them. */
  @Test
  void anExchangeGoesOnThoughOneOfItsRoutingKeysStaysSilent() throws Exception {
    String exchange = "topics-" + silent;
    arrivals.channel.exchangeDeclare(exchange, "topic", true);
    arrivals.channel.queueBind(silent, exchange, "#");
    insertSilent(exchange, "'r.' || n");
    Await.until("all are parked", () -> outbox.parked() == 2_000);
    arrivals.channel.queueBind(silent, exchange, "r.10001");
    arrivals.channel.queueBind(queue, exchange, "*.*");
    arrivals.channel.queueUnbind(silent, exchange, "#");
    Await.until("the others are published", () -> outbox.parked() == 1);
    awaitSilent(20 + 2_000);
  }

  /** The broker itself is silent: that is an outage, and takes as long as it takes. */
  @Test
  void aBrokerThatAnswersNobodyFailsNoRow() throws Exception {
    outbox.noteParked();
    inQueue(silent, "resume");
    broker.eval("mnesia:dump_log()");
    broker.pause();
    outbox.insertMany("", silent, 50, 10_001, 10_100);
    outbox.insertMany("", queue, 50, 21, 200);
    Await.until(
        "several confirm timeouts",
        Duration.ofSeconds(60),
        () ->
            outbox.number(
                    "select extract(epoch from clock_timestamp() - max(created_at))::int"
                        + " from fencepost.outbox")
                > 15);
    broker.resume();
    arrivals.consume(silent);
    arrivals.await(300, Duration.ofSeconds(60));
    assertThat(outbox.everParked()).isEmpty();
    Await.until("all is well", () -> detail().equals("[null]"));
  }
}
