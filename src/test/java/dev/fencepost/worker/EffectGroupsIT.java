package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.pg.PgActivityStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Effects that share transactions on a real database, some of which fail for good: each has its own
 * outcome, whatever its neighbours did, and nothing of what failed stays. What an event does is the
 * first word of its id.
 */
class EffectGroupsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private final Vertx vertx = Vertx.vertx();
  private final FakeDeliveries broker = new FakeDeliveries();
  private final RecordedEvents events = new RecordedEvents();
  private final AtomicInteger delivered = new AtomicInteger();
  private Context context;
  private PgDatabase database;
  private PgDatabase effects;
  private Remote remote;
  private Worker worker;

  @BeforeEach
  void start() {
    String uri = WorkerProcess.database();
    PostgresServer.execute(
        uri,
        "alter table effect add constraint odd check (event_id not like 'odd-%')",
        "create table mark(of_event text)");
    remote = new Remote(uri);
    FencepostConfig config =
        ConfigLoader.parse(
            "database: {uris: [\""
                + uri
                + "\"]}\nqueues: {q: {queue: q, prefetch: 300, concurrency: 200, activities:"
                + " {t: {kind: effect, concurrency: 200, handler: {class: x.Y}}}}}",
            Map.of());
    database = PgDatabase.open(vertx, config.database(), "worker");
    effects = PgDatabase.open(vertx, config.database(), "effects");
    context = vertx.getOrCreateContext();
    BoundHandler handler = new BoundHandler.Effect(EffectGroupsIT::run);
    WorkerParts.Ports ports =
        new WorkerParts.Ports(
            new PgActivityStore(database, effects), broker, events, (queue, type) -> handler);
    WorkerParts parts =
        new WorkerParts(
            "me",
            ports,
            config.worker(),
            List.copyOf(config.queues().values()),
            Duration.ofMinutes(30));
    VertxTimers timers = new VertxTimers(vertx, context);
    worker = new Worker(parts, timers, Runnable::run, new LoopWatch(timers, check -> {}));
    onContext(() -> worker.start());
    group("refused-first"); // from now on groups go in parts
  }

  @AfterEach
  void stop() {
    Await.result(onContext(worker::stop).compose(stopped -> stopped));
    Await.result(database.close());
    Await.result(effects.close());
    Await.result(vertx.close());
  }

  private <T> Future<T> onContext(Callable<T> task) {
    Promise<T> done = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            done.complete(task.call());
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  /** Delivers them at once, so that they are a group, and waits until all have ended. */
  private void group(String... ids) {
    Delivery.Envelope[] messages =
        Stream.of(ids).map(id -> Bench.message("t", id)).toArray(Delivery.Envelope[]::new);
    Await.result(
        onContext(
            () -> {
              broker.deliver(messages);
              return null;
            }));
    int all = delivered.addAndGet(ids.length);
    Await.until(
        "all have ended",
        DEADLINE,
        () -> Await.result(onContext(() -> broker.acked.size() == all)));
  }

  private static String[] plain(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "plain-" + i).toArray(String[]::new);
  }

  private static String[] all(String[]... parts) {
    return Stream.of(parts).flatMap(Stream::of).toArray(String[]::new);
  }

  private static Future<Receipt> run(ActivityContext event, SqlConnection transaction) {
    return switch (event.eventId().replaceFirst("-.*", "")) {
      case "refused" -> Future.failedFuture(new PermanentFailure("refused"));
      case "hasty" -> {
        insert(event, transaction);
        yield Future.failedFuture(new PermanentFailure("does not wait for what it writes"));
      }
      case "late" ->
          insert(event, transaction)
              .compose(done -> Future.failedFuture(new PermanentFailure("refused after all")));
      case "hides" -> transaction.query("select 1 / 0").execute().transform(any -> succeeded());
      case "marks" ->
          transaction
              .query("insert into mark values ('any')")
              .execute()
              .compose(done -> Future.failedFuture(new PermanentFailure("its own failure")));
      case "looks" ->
          transaction
              .query("select 1 from mark")
              .execute()
              .compose(
                  marks ->
                      marks.size() == 0
                          ? insert(event, transaction)
                          : Future.failedFuture(new PermanentFailure("saw a mark")));
      case "scratch" ->
          transaction
              .query("create temporary table scratch(n int) on commit drop")
              .execute()
              .compose(made -> insert(event, transaction));
      default -> insert(event, transaction);
    };
  }

  private static Future<Receipt> succeeded() {
    return Future.succeededFuture(Receipt.succeeded());
  }

  private static Future<Receipt> insert(ActivityContext event, SqlConnection transaction) {
    return transaction
        .preparedQuery("insert into effect(event_id) values ($1)")
        .execute(Tuple.of(event.eventId()))
        .map(Receipt.succeeded());
  }

  private void expectCompleted(int count) {
    assertThat(
            remote.number(
                "select count(*) from fencepost.activities a where state = 'completed'"
                    + " and attempts = 1 and retries = 0 and redeliveries = 0 and 1 ="
                    + " (select count(*) from effect e where e.event_id = a.event_id)"))
        .as("completed, each with its effect, once")
        .isEqualTo(count);
    assertThat(remote.number("select count(*) from effect"))
        .as("effects, and none of what failed")
        .isEqualTo(count);
  }

  /** How these ended: state, starts, attempts and their outcomes, dead letters, errors. */
  private String ends(String like) {
    return remote.ask(
        "select string_agg(distinct concat_ws(' ', a.state, a.attempts, t.outcome, t.fence,"
            + " d.reason, d.attempts, d.error_message), ',') from fencepost.activities a"
            + " left join fencepost.attempts t using (consumer, event_id)"
            + " left join fencepost.dead_letters d using (consumer, event_id)"
            + " where a.event_id like '"
            + like
            + "'");
  }

  private static String deadOf(String error) {
    return "dead 1 permanent_failure 1 permanent_failure 1 " + error;
  }

  @Test
  void aFailureThatSawTheUndoneWorkOfANeighbourIsNoOutcome() {
    group(all(plain(0, 5), new String[] {"marks-1", "looks-1", "marks-2", "looks-2"}, plain(5, 9)));
    assertThat(ends("looks-%")).isEqualTo("completed 1 succeeded 1");
    assertThat(ends("marks-%")).isEqualTo(deadOf("its own failure"));
    assertThat(remote.number("select count(*) from mark")).isZero();
    expectCompleted(11);
  }

  @Test
  void whatANeighbourLeavesInTheTransactionFailsNobody() {
    group("scratch-1", "plain-1", "scratch-2", "scratch-3");
    expectCompleted(4);
  }

  @Test
  void whoFailsForGoodIsDeadAndNothingOfItStays() {
    String[] bad = {"hasty-1", "late-1", "hasty-2", "late-2"};
    group(all(plain(0, 30), bad, plain(30, 40)));
    expectCompleted(40);
    String[] odd = {"odd-1", "odd-2", "late-3", "odd-3"};
    group(all(plain(40, 50), odd, plain(50, 60)));
    expectCompleted(60);
    assertThat(ends("odd-%")).startsWith(deadOf("ERROR: new row for relation"));
    assertThat(ends("hasty-%")).isEqualTo(deadOf("does not wait for what it writes"));
    assertThat(ends("late-%")).isEqualTo(deadOf("refused after all"));
    assertThat(remote.number("select count(*) from fencepost.dead_letters"))
        .isEqualTo(bad.length + odd.length + 1);
    assertThat(remote.number("select count(*) from fencepost.attempts where worker <> 'me'"))
        .isZero();
    assertThat(events.count(WorkerEvents.Outcome.DISPATCHED)).isEqualTo(60);
    assertThat(events.count(WorkerEvents.Outcome.DEAD_LETTERED))
        .isEqualTo(bad.length + odd.length + 1);
    assertThat(events.starts).isEqualTo(60 + bad.length + odd.length + 1);
  }

  /** Its part seems to have ended well; what is undone later must not reach back into it. */
  @Test
  void aFailedStatementHiddenAtTheEndOfAPartCostsNobodyItsEffect() {
    group(
        all(
            plain(0, EffectLane.PART - 1),
            new String[] {"hides-1", "refused-1"},
            plain(EffectLane.PART, EffectLane.PART + 9)));
    expectCompleted(EffectLane.PART + 8);
    assertThat(ends("hides-1")).startsWith("dead 1 permanent_failure 1 permanent_failure 1");
    assertThat(ends("refused-1")).isEqualTo(deadOf("refused"));
  }
}
