package dev.fencepost.worker;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.pg.Migrations;
import dev.fencepost.pg.PgActivityStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Tuple;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * A worker on real servers, with one queue per name and the types {@code pure}, {@code idempotent},
 * {@code queryable}, {@code irreversible} and {@code effect}, whose handlers call {@link Remote}.
 * As a main class: a process of its own that a {@link Death} ends.
 */
final class WorkerProcess implements AutoCloseable {
  /** Threads for handlers that block. */
  static final int POOL = 16;

  static final Duration TTL = Duration.ofSeconds(3);

  /**
   * Far above what a run takes on a loaded machine, or it would end otherwise than by its death.
   */
  private static final Duration HARD = Duration.ofSeconds(5);

  private static final Map<String, CountDownLatch> HUNG = new ConcurrentHashMap<>();

  final Vertx vertx = Vertx.vertx();
  final String owner = "test-" + UUID.randomUUID();
  final RecordedEvents events = new RecordedEvents();
  final WorkerVerticle verticle;
  private final PgDatabase database;
  private final PgDatabase effects;
  private final RabbitBroker broker;
  private final Remote remote;
  private final Death death;
  private final String deployment;

  WorkerProcess(String databaseUri, String brokerUri, List<String> queues, Death death) {
    this(databaseUri, brokerUri, death, queues.stream().map(WorkerProcess::queue).toList());
  }

  WorkerProcess(String databaseUri, String brokerUri, Death death, List<QueueConfig> queues) {
    this(List.of(databaseUri), new Remote(databaseUri), brokerUri, death, queues);
  }

  /** On several database servers, of which one is writable; the remote is on its own. */
  WorkerProcess(
      List<String> databaseUris,
      Remote remote,
      String brokerUri,
      Death death,
      List<QueueConfig> queues) {
    this.death = death;
    this.remote = remote;
    FencepostConfig.Database config = new FencepostConfig.Database(databaseUris, "fencepost", 6);
    this.database = PgDatabase.open(vertx, config, "worker");
    this.effects = PgDatabase.open(vertx, config, "effects");
    this.broker =
        new RabbitBroker(
            vertx, new FencepostConfig.Broker(List.of(brokerUri), null, Duration.ofMinutes(30)));
    ActivityStore store = DyingStore.of(new PgActivityStore(database, effects), death);
    this.verticle =
        new WorkerVerticle(
            new WorkerParts(
                owner,
                new WorkerParts.Ports(store, broker.deliveries(), events, this::handler),
                new FencepostConfig.Worker(
                    true,
                    POOL,
                    Duration.ofSeconds(10),
                    Duration.ofMillis(500),
                    Duration.ofHours(24),
                    Duration.ofDays(7)),
                queues,
                Duration.ofMinutes(30)));
    this.deployment = Await.result(vertx.deployVerticle(verticle));
  }

  /** A fresh database on the shared server, with the schema and the remote's table. */
  static String database() {
    return TestServers.postgres().newDatabase("workers", WorkerProcess::migrate);
  }

  static void migrate(String databaseUri) {
    Vertx vertx = Vertx.vertx();
    FencepostConfig config =
        ConfigLoader.parse("database: {uris: [\"" + databaseUri + "\"]}", Map.of());
    Await.result(new Migrations(vertx, config).migrate());
    Await.result(vertx.close());
    Remote.create(databaseUri);
  }

  /** The queue of a consumer; its name is also the routing key on the default exchange. */
  static QueueConfig queue(String name) {
    return queue(name, 20, QueueConfig.Ordering.NONE);
  }

  static QueueConfig queue(String name, int maxAttempts, QueueConfig.Ordering ordering) {
    return queue(name, maxAttempts, ordering, HARD);
  }

  static QueueConfig queue(
      String name, int maxAttempts, QueueConfig.Ordering ordering, Duration hard) {
    Map<String, ActivityConfig> activities = new LinkedHashMap<>();
    for (ActivityKind kind : ActivityKind.values()) {
      activities.put(
          kind.wire(),
          new ActivityConfig(
              kind.wire(),
              kind,
              new ActivityConfig.Handler.JavaClass(kind.wire()),
              16,
              new ActivityConfig.Timing(
                  new FencepostConfig.LeaseTimes(TTL, TTL.dividedBy(4)),
                  hard.dividedBy(2),
                  hard,
                  null),
              new ActivityConfig.Retry(
                  10, Duration.ofMillis(300), 2, Duration.ofSeconds(3), 0, maxAttempts),
              null));
    }
    return new QueueConfig(
        name,
        name,
        new QueueConfig.Declare("quorum", List.of()),
        new QueueConfig.Intake(64, 32, ordering),
        null,
        null,
        activities);
  }

  private static CountDownLatch hung(String eventId) {
    return HUNG.computeIfAbsent(eventId, id -> new CountDownLatch(1));
  }

  /** Lets a silent or deaf handler of this JVM end. */
  static void release(String eventId) {
    hung(eventId).countDown();
  }

  private BoundHandler handler(QueueConfig queue, ActivityConfig activity) {
    if (activity.kind() == ActivityKind.EFFECT) {
      return new BoundHandler.Effect(
          (context, transaction) -> {
            fail(context.eventId());
            return transaction
                .preparedQuery("insert into public.effect(event_id) values ($1)")
                .execute(Tuple.of(context.eventId()))
                .map(Receipt.succeeded());
          });
    }
    return new BoundHandler.Blocking(new Caller(activity.kind()));
  }

  /** Fails before anything has happened, by the event's id: for good, or each time. */
  private static void fail(String eventId) {
    if (eventId.startsWith("refused")) {
      throw new PermanentFailure("refused");
    }
    if (eventId.startsWith("hopeless")) {
      throw new TransientFailure("not this time either");
    }
  }

  /** Calls the remote and records the receipt before it returns. */
  private final class Caller implements BlockingActivityHandler {
    private final ActivityKind kind;

    Caller(ActivityKind kind) {
      this.kind = kind;
    }

    @Override
    public Receipt run(ActivityContext context) throws Exception {
      death.at(Stage.BEFORE_REMOTE_CALL);
      misbehave(context);
      try {
        remote.call(context.eventId(), context.fence(), kind);
      } catch (SQLException e) {
        if (kind == ActivityKind.PURE || kind == ActivityKind.IDEMPOTENT) {
          throw new TransientFailure("the remote is away", e);
        }
        throw e; // it may have happened
      }
      death.at(Stage.AFTER_REMOTE_CALL);
      Receipt receipt = Receipt.succeeded("done by " + owner);
      Await.result(context.recordReceipt(receipt));
      return receipt;
    }

    /** By the event's id. */
    private void misbehave(ActivityContext context) throws InterruptedException {
      fail(context.eventId());
      if (context.eventId().startsWith("silent")) {
        context.progress(1, "first");
        hung(context.eventId()).await();
      }
      if (context.eventId().startsWith("deaf") && context.attempt() == 1) {
        ignoringInterrupts(hung(context.eventId()));
      }
      if (context.eventId().startsWith("killer")) {
        Death now = new Death(Stage.BEFORE_REMOTE_CALL, "KILL");
        now.arm();
        now.at(Stage.BEFORE_REMOTE_CALL);
      }
      if (context.eventId().startsWith("flaky") && context.attempt() == 1) {
        throw new TransientFailure("not yet");
      }
      if (context.eventId().startsWith("unprintable")) {
        throw new IllegalStateException("NUL \u0000, lone \ud800 " + "x".repeat(2_000_000));
      }
    }

    private static void ignoringInterrupts(CountDownLatch latch) {
      boolean released = false;
      while (!released) {
        try {
          latch.await();
          released = true;
        } catch (InterruptedException e) {
          System.out.println("somebody wants it to end");
        }
      }
    }

    @Override
    public ProbeResult probe(ActivityContext context) throws Exception {
      return remote.happened(context.eventId())
          ? ProbeResult.succeeded("found")
          : ProbeResult.neverHappened();
    }
  }

  /** The ordered shutdown. */
  @Override
  public void close() {
    Await.result(vertx.undeploy(deployment));
    Await.result(broker.close());
    Await.result(database.close());
    Await.result(effects.close());
    Await.result(vertx.close());
  }

  /**
   * Arguments: database, broker, queue, stage, signal, the most starts (left out: 20), the seconds
   * of the hard limit. Its death is armed once it has shown that it is healthy: by the first event
   * that it completes.
   */
  public static void main(String[] args) throws InterruptedException {
    Death death = new Death(Stage.of(args[3]), args[4]);
    int starts = args.length > 5 ? Integer.parseInt(args[5]) : 20;
    Duration hard = args.length > 6 ? Duration.ofSeconds(Long.parseLong(args[6])) : HARD;
    QueueConfig queue = queue(args[2], starts, QueueConfig.Ordering.NONE, hard);
    WorkerProcess process = new WorkerProcess(args[0], args[1], death, List.of(queue));
    Runtime.getRuntime().addShutdownHook(new Thread(process::close));
    System.out.println("started " + process.owner);
    Await.until(
        "one is done, not only taken over by the database",
        Duration.ofDays(1),
        () ->
            process.events.acknowledged > 0
                && process.events.count(WorkerEvents.Outcome.DISPATCHED) > 0);
    death.arm();
    System.out.println("armed");
    new CountDownLatch(1).await();
  }
}
