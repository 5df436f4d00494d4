package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.cli.Main;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A service whose file changes while it works. */
@Timeout(120)
class ReloadIT {

  private static final int EVENTS = 200;

  @TempDir private Path folder;
  private final String database = TestServers.postgres().newDatabase();
  private final String broker = TestServers.broker().newVhost();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Held held = new Held();
  private Path file;

  /** Work that runs until the test lets it go. */
  private static final class Held {
    final ConcurrentLinkedQueue<Promise<Receipt>> runs = new ConcurrentLinkedQueue<>();
    final Map<String, Integer> starts = new ConcurrentHashMap<>();
    volatile boolean free;

    Future<Receipt> run(ActivityContext context) {
      starts.merge(context.eventId(), 1, Integer::sum);
      if (free) {
        return Future.succeededFuture(Receipt.succeeded());
      }
      Promise<Receipt> run = Promise.promise();
      runs.add(run);
      return run.future();
    }

    void release(int count) {
      for (int i = 0; i < count; i++) {
        runs.remove().complete(Receipt.succeeded());
      }
    }
  }

  /** What the tests change. */
  private record Values(int prefetch, int concurrency, int retries, String hard, String poll) {}

  @BeforeEach
  void open() {
    file = folder.resolve("fencepost.yaml");
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    ((Logger) LoggerFactory.getLogger(ConfigWatch.class)).addAppender(log);
  }

  @AfterEach
  void close() {
    ((Logger) LoggerFactory.getLogger(ConfigWatch.class)).detachAppender(log);
  }

  private String yaml(Values values, int lanes) {
    return """
    database: {uris: ["%s"]}
    broker: {uris: ["%s"]}
    relay: {lanes: %d, poll: {min: 2ms, max: %s}}
    worker: {sweep-every: 500ms, shutdown-deadline: 5s}
    admin: {port: %d}
    metrics: {jmx: false}
    queues:
      slow:
        queue: app.slow
        declare: {type: classic, bind: [{exchange: app, exchange-type: topic, routing-key: slow}]}
        prefetch: %d
        concurrency: %d
        activities:
          slow:
            kind: idempotent
            handler: {class: x.Y}
            concurrency: %d
            limits: {soft: 80s, hard: 90s}
      other:
        queue: app.other
        declare: {type: classic, bind: [{exchange: app, exchange-type: topic, routing-key: other}]}
        activities:
          flaky:
            kind: pure
            handler: {class: x.Y}
            retry: {max-retries: %d, base-delay: 50ms}
          stuck:
            kind: idempotent
            handler: {class: x.Y}
            limits: {soft: 100ms, hard: %s}
    """
        .formatted(
            database,
            broker,
            lanes,
            values.poll(),
            Ports.free(),
            values.prefetch(),
            values.concurrency(),
            values.concurrency(),
            values.retries(),
            values.hard());
  }

  private void write(String yaml) throws IOException {
    Files.writeString(file, yaml.replaceAll("port: \\d+", "port: 1"));
  }

  private void publish(String type, String routingKey, int from, int to) {
    PostgresServer.execute(
        database,
        "insert into fencepost.outbox (event_id, exchange, routing_key, type, payload) select '"
            + type
            + "-' || g, 'app', '"
            + routingKey
            + "', '"
            + type
            + "', '{}'::bytea from generate_series("
            + from
            + ", "
            + to
            + ") g");
  }

  private long count(String from) {
    try (Connection connection = PostgresServer.connect(database);
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("select count(*) from fencepost." + from)) {
      found.next();
      return found.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Deliveries that the consumer has in hand. */
  private int inHand() {
    String vhost = URI.create(broker).getPath().substring(1);
    String found =
        TestServers.broker()
            .eval(
                "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\""
                    + vhost
                    + "\">>, queue, <<\"app.slow\">>)), [{_, N}] ="
                    + " rabbit_amqqueue:info(Q, [messages_unacknowledged]), N");
    return Integer.parseInt(found.replaceAll("\\D", ""));
  }

  private List<String> logged(String beginning) {
    return log.list.stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.startsWith(beginning))
        .toList();
  }

  private Service service(Vertx vertx, FencepostConfig config) {
    CodeHandlers handlers =
        new CodeHandlers()
            .register("slow", "slow", new BoundHandler.Async(held::run))
            .register(
                "other", "stuck", new BoundHandler.Async(c -> Promise.<Receipt>promise().future()))
            .register(
                "other",
                "flaky",
                new BoundHandler.Async(c -> Future.failedFuture(new TransientFailure("again"))));
    return new Service(
        vertx,
        config,
        new Parts(true, true, false),
        new Service.Wiring(handlers, Telemetry.of(config)));
  }

  @Test
  void whatIsLiveChangesUnderLoadAndNothingIsLost() throws IOException {
    write(yaml(new Values(6, 3, 0, "20s", "250ms"), 4));
    FencepostConfig config = ConfigLoader.load(file, Map.of());
    Vertx vertx = Vertx.vertx();
    new Schema(config).migrate(null);
    Service service = service(vertx, config);
    Await.result(service.start());
    ConfigWatch watch = new ConfigWatch(vertx, file, service);
    watch.start();
    publish("slow", "slow", 1, EVENTS);
    publish("stuck", "other", 1, 1);
    publish("flaky", "other", 1, 1);
    running(3);
    inHand(6, 6);
    Await.until("dead at once", () -> count("dead_letters where event_id = 'flaky-1'") == 1);

    write(yaml(new Values(24, 12, 2, "400ms", "100ms"), 4));
    running(12);
    inHand(24, 30);
    assertThat(logged("reload applied"))
        .singleElement()
        .asString()
        .contains(
            "relay.poll.max", "queues.slow.prefetch", "queues.slow.activities.slow.concurrency")
        .contains("queues.other.activities.flaky.retry.max-retries");
    publish("flaky", "other", 2, 2);
    Await.until(
        "dead after retries",
        () -> count("dead_letters where event_id = 'flaky-2' and attempts = 3") == 1);
    Await.until("timed out", () -> count("attempts where outcome = 'timed_out'") > 0);

    write(yaml(new Values(10, 20, -1, "400ms", "100ms"), 4));
    Await.until("refused", () -> logged("reload refused: ").size() >= 3);
    assertThat(logged("reload refused: "))
        .anyMatch(line -> line.contains("queues.slow.concurrency"))
        .anyMatch(line -> line.contains("queues.other.activities.flaky.retry.max-retries"));
    held.release(5);
    running(12);

    write(yaml(new Values(4, 2, 2, "400ms", "100ms"), 8));
    Await.until("a restart is named", () -> !logged("reload needs a restart").isEmpty());
    assertThat(logged("reload needs a restart"))
        .containsExactly("reload needs a restart for: relay.lanes");
    int started = held.starts.size();
    held.release(10);
    running(2);
    assertThat(held.starts).as("nothing starts above the lower limit").hasSize(started);
    while (inHand() > 4) {
      held.release(2);
      running(2);
    }

    held.free = true;
    held.release(2);
    Await.until(
        "all is done",
        Duration.ofSeconds(30),
        () -> count("activities where consumer = 'slow' and state = 'completed'") == EVENTS);
    assertThat(held.starts).hasSize(EVENTS);
    assertThat(held.starts.values()).containsOnly(1);
    assertThat(count("activities where consumer = 'slow' and redeliveries > 0")).isZero();
    Await.result(service.stop());
    Await.result(vertx.close());
  }

  private void running(int runs) {
    Await.until(runs + " runs", Duration.ofSeconds(20), () -> held.runs.size() == runs);
  }

  /** Those in hand at a change of the prefetch come on top until they are done. */
  private void inHand(int least, int most) {
    Await.until(
        least + " to " + most + " deliveries in hand",
        Duration.ofSeconds(20),
        () -> inHand() >= least && inHand() <= most);
  }

  @Test
  void aHangUpReadsTheFileAtOnceAndAFaultyOneChangesNothing() throws IOException {
    String yaml =
        yaml(new Values(6, 3, 0, "20s", "250ms"), 4)
            .replace("{class: x.Y}", "{http: {url: \"http://127.0.0.1:1/\"}}")
            .replaceAll("port: \\d+", "port: " + Ports.free());
    Files.writeString(file, yaml);
    new Schema(ConfigLoader.load(file, Map.of())).migrate(null);
    try (ServiceProcess process = ServiceProcess.start(Main.class, "run", "-c", file.toString())) {
      Duration long_ = Duration.ofSeconds(60);
      process.awaitLine("runs relay=true worker=true", long_);
      process.hangUp();
      process.awaitLine("reload: nothing has changed", long_);
      Files.writeString(file, yaml.replace("prefetch: 6", "prefetch: 9") + "nothing: 1\n");
      process.hangUp();
      process.awaitLine("reload refused: nothing: unknown key", long_);
      assertThat(process.lines("reload applied")).isEmpty();
      Files.writeString(file, yaml.replace("prefetch: 6", "prefetch: 9"));
      process.hangUp();
      process.awaitLine("reload applied: queues.slow.prefetch", long_);
      process.terminate();
      assertThat(process.awaitExit(long_)).isZero();
    }
  }
}
