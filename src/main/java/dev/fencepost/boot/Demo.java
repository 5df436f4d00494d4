package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.embedded.DemoApplication;
import dev.fencepost.embedded.DemoDatabase;
import dev.fencepost.embedded.DemoHandler;
import dev.fencepost.embedded.DemoPlan;
import dev.fencepost.embedded.EmbeddedBroker;
import dev.fencepost.embedded.EmbeddedPostgres;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The whole product on embedded servers: events through outbox, relay, broker and worker, with
 * every kind of failure in the mix, and a worker killed while it works. What came of it is counted
 * in the database and in the tables of the handlers, not by what wrote the events. Blocks.
 */
public final class Demo {

  private static final Duration STEP = Duration.ofSeconds(60);

  /** Nothing has changed for so long: it will not agree any more. */
  private static final Duration STANDSTILL = Duration.ofSeconds(20);

  private static final Duration LONGEST = Duration.ofDays(1);

  private final DemoPlan plan;
  private final Progress progress;
  private final int adminPort;

  /** Told what is being done; {@code done} of {@code all} events have come to their end. */
  public interface Progress {
    void at(String step, long done, long all);
  }

  /** The same names in both. */
  public record Result(Map<String, Long> expected, Map<String, Long> actual) {
    public boolean agree() {
      return expected.equals(actual);
    }
  }

  /**
   * @param adminPort where the console is served; 0 for nowhere
   */
  public Demo(int events, int adminPort, Progress progress) {
    this.plan = new DemoPlan(events);
    this.adminPort = adminPort;
    this.progress = progress;
  }

  /** What still runs, until it is closed. */
  public interface Stay {
    void whileRunning(Result result) throws InterruptedException;
  }

  /**
   * Runs it to the end.
   *
   * @param stay called with everything still running
   */
  public Result run(Stay stay) throws InterruptedException {
    progress.at("starting PostgreSQL and a broker", 0, 0);
    CompletableFuture<EmbeddedBroker> starting =
        CompletableFuture.supplyAsync(EmbeddedBroker::start);
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      EmbeddedBroker broker = starting.join();
      DemoConfig config =
          new DemoConfig(postgres.uri(), broker.uri(), adminPort == 0 ? 1 : adminPort);
      DemoDatabase database = new DemoDatabase(postgres.uri());
      progress.at("creating the schema", 0, 0);
      new Schema(config.living()).migrate(null);
      database.create();
      try (DoomedWorker doomed = DoomedWorker.start(postgres.uri(), broker.uri())) {
        return play(config, new Stage(Vertx.vertx(), broker, database), doomed, stay);
      }
    } catch (IOException | SQLException e) {
      throw new FencepostException(FailureKind.INTERNAL, "the demo failed: " + e.getMessage(), e);
    }
  }

  /** Where it is played. */
  private record Stage(Vertx vertx, EmbeddedBroker broker, DemoDatabase database) {}

  private Result play(DemoConfig config, Stage stage, DoomedWorker doomed, Stay stay)
      throws IOException, InterruptedException {
    Parts all = new Parts(true, true, adminPort != 0);
    Service living = service(stage.vertx, config.living(), all, stage.database, false);
    Parts worker = new Parts(false, true, false);
    Service successor = service(stage.vertx, config.rendering(), worker, stage.database, false);
    try {
      Blocking.await(living.start(), STEP);
      ready(stage.vertx, living);
      progress.at("a worker takes work and is killed", 0, 0);
      die(stage, doomed);
      Blocking.await(successor.start(), STEP);
      Result result = flow(config, stage);
      stay.whileRunning(result);
      return result;
    } finally {
      Blocking.await(successor.stop(), STEP);
      Blocking.await(living.stop(), STEP);
      Blocking.await(stage.vertx.close(), STEP);
    }
  }

  private void die(Stage stage, DoomedWorker doomed) throws IOException {
    if (!doomed.awaitConsuming()) {
      throw new FencepostException(FailureKind.INTERNAL, "the second worker did not start");
    }
    new DemoApplication(stage.database).write(plan.doomed(), done -> {});
    if (!Blocking.until(stage.vertx, STEP, () -> stage.database.inHand() >= plan.inHand())) {
      throw new FencepostException(FailureKind.TIMEOUT, "the second worker takes no work");
    }
    doomed.close();
  }

  private Result flow(DemoConfig config, Stage stage) {
    AtomicInteger written = new AtomicInteger();
    List<DemoPlan.Event> others = plan.others();
    int half = others.size() / 2;
    DemoApplication application = new DemoApplication(stage.database);
    CompletableFuture<Void> writers =
        CompletableFuture.allOf(
            CompletableFuture.runAsync(
                () -> application.write(others.subList(0, half), written::addAndGet)),
            CompletableFuture.runAsync(
                () -> application.write(others.subList(half, others.size()), written::addAndGet)));
    long poison = Poison.send(config.living());
    Map<String, Long> expected = plan.expected(poison);
    Map<String, Long> actual = settle(stage, expected);
    writers.join();
    return new Result(expected, actual);
  }

  /**
   * Counts until it agrees and nothing is under way that could add to it, or until nothing moves.
   */
  private Map<String, Long> settle(Stage stage, Map<String, Long> expected) {
    Counting counting = new Counting(stage, expected);
    Blocking.until(stage.vertx, LONGEST, counting::isOver);
    return counting.last;
  }

  private final class Counting {
    private final Stage stage;
    private final Map<String, Long> expected;
    private Map<String, Long> last = Map.of();
    private long moved = System.nanoTime();

    Counting(Stage stage, Map<String, Long> expected) {
      this.stage = stage;
      this.expected = expected;
    }

    boolean isOver() throws SQLException {
      // First: what every message came to is counted then.
      boolean calm = calm();
      Map<String, Long> now = stage.database.counted();
      if (!now.equals(last)) {
        moved = System.nanoTime();
        last = now;
      }
      progress.at("events", ended(now), ended(expected));
      return (calm && now.equals(expected)) || System.nanoTime() - moved > STANDSTILL.toNanos();
    }

    /** Every message has come, duplicates too, and each is acknowledged: nothing is done anew. */
    private boolean calm() {
      EmbeddedBroker.Traffic traffic = stage.broker.traffic();
      return traffic.given() >= DemoPlan.arriving(expected) && traffic.held() == 0;
    }
  }

  private static long ended(Map<String, Long> counts) {
    return DemoPlan.ENDS.stream().mapToLong(end -> counts.getOrDefault(end, 0L)).sum();
  }

  private static void ready(Vertx vertx, Service service) {
    Blocking.until(
        vertx, STEP, () -> Blocking.await(service.readiness().reasons(), STEP).isEmpty());
  }

  /** A service whose Java handlers are the demo's. */
  static Service service(
      Vertx vertx, FencepostConfig config, Parts parts, DemoDatabase database, boolean doomed) {
    CodeHandlers handlers = new CodeHandlers();
    DemoHandler handler = new DemoHandler(database, doomed);
    config
        .queues()
        .values()
        .forEach(
            queue ->
                queue.activities().keySet().stream()
                    .filter(type -> !type.equals(DemoPlan.Behaviour.BOOKED.type()))
                    .forEach(
                        type ->
                            handlers.register(
                                queue.name(), type, new BoundHandler.Blocking(handler))));
    return new Service(vertx, config, parts, new Service.Wiring(handlers, Telemetry.of(config)));
  }
}
