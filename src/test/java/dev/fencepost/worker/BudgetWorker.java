package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.pg.PgActivityStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A process whose remote is away for good: all of its work fails, and is due again at once. */
final class BudgetWorker {
  static final String TYPE = "call";
  static final double RATIO = 0.1;
  static final double PER_SECOND = 4;

  private BudgetWorker() {}

  private static QueueConfig queue(String name) {
    ActivityConfig activity =
        new ActivityConfig(
            TYPE,
            ActivityKind.IDEMPOTENT,
            new ActivityConfig.Handler.JavaClass(TYPE),
            16,
            new ActivityConfig.Timing(
                new FencepostConfig.LeaseTimes(Duration.ofSeconds(30), Duration.ofSeconds(10)),
                Duration.ofSeconds(15),
                Duration.ofSeconds(20),
                null),
            new ActivityConfig.Retry(
                100_000, Duration.ofMillis(10), 1, Duration.ofMillis(10), 0, 100_001),
            new ActivityConfig.RetryBudget(RATIO, PER_SECOND));
    return new QueueConfig(
        name,
        name,
        new QueueConfig.Declare("quorum", List.of()),
        new QueueConfig.Intake(32, 16, QueueConfig.Ordering.NONE),
        null,
        null,
        Map.of(TYPE, activity));
  }

  /** Arguments: owner, database, broker, queue. */
  public static void main(String[] args) throws InterruptedException {
    Vertx vertx = Vertx.vertx();
    FencepostConfig.Database database =
        new FencepostConfig.Database(List.of(args[1]), "fencepost", 4);
    RabbitBroker broker =
        new RabbitBroker(
            vertx, new FencepostConfig.Broker(List.of(args[2]), null, Duration.ofMinutes(30)));
    PgActivityStore store =
        new PgActivityStore(
            PgDatabase.open(vertx, database, "worker"),
            PgDatabase.open(vertx, database, "effects"));
    BoundHandler away =
        new BoundHandler.Async(
            context -> Future.<Receipt>failedFuture(new TransientFailure("the remote is away")));
    WorkerParts parts =
        new WorkerParts(
            args[0],
            new WorkerParts.Ports(
                store, broker.deliveries(), new RecordedEvents(), (queue, activity) -> away),
            new FencepostConfig.Worker(
                true,
                4,
                Duration.ofSeconds(10),
                Duration.ofSeconds(1),
                Duration.ofHours(24),
                Duration.ofDays(7)),
            List.of(queue(args[3])),
            Duration.ofMinutes(30));
    Await.result(vertx.deployVerticle(new WorkerVerticle(parts)));
    System.out.println("started " + args[0]);
    new CountDownLatch(1).await();
  }
}
