package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A worker on a real event loop, with a store and a broker in memory. */
class WorkerVerticleTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  // The loop is blocked on purpose here.
  private final Vertx vertx =
      Vertx.vertx(
          new VertxOptions()
              .setMaxEventLoopExecuteTime(60)
              .setMaxEventLoopExecuteTimeUnit(TimeUnit.SECONDS));
  private final FakeActivityStore store = new FakeActivityStore(System::nanoTime);
  private final FakeDeliveries broker = new FakeDeliveries();
  private final RecordedEvents events = new RecordedEvents();
  private final AtomicReference<Context> loop = new AtomicReference<>();
  private final ConcurrentLinkedQueue<String> elsewhere = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  private void start(Duration ttl, ActivityHandler handler) {
    Await.result(
        vertx.deployVerticle(
            verticle(Duration.ofSeconds(1), broker, handler, queue(Bench.QUEUE, ttl))));
  }

  private static QueueConfig queue(String name, Duration ttl) {
    ActivityConfig type =
        new ActivityConfig(
            "t",
            ActivityKind.IDEMPOTENT,
            new ActivityConfig.Handler.JavaClass("t"),
            8,
            new ActivityConfig.Timing(
                new FencepostConfig.LeaseTimes(ttl, ttl.dividedBy(3)),
                Duration.ofSeconds(50),
                Duration.ofSeconds(60),
                null),
            new ActivityConfig.Retry(2, Duration.ofSeconds(5), 2, Duration.ofHours(1), 0, 3),
            null);
    return new QueueConfig(
        name,
        "app." + name,
        null,
        new QueueConfig.Intake(256, 64, QueueConfig.Ordering.NONE),
        null,
        null,
        Map.of("t", type));
  }

  private WorkerVerticle verticle(
      Duration shutdown, Deliveries deliveries, ActivityHandler handler, QueueConfig... queues) {
    FencepostConfig.Worker settings =
        new FencepostConfig.Worker(
            true, 2, shutdown, Duration.ofSeconds(60), Duration.ofHours(24), Duration.ofDays(7));
    HandlerSource handlers =
        (q, activity) -> {
          loop.set(Vertx.currentContext());
          return new BoundHandler.Async(handler);
        };
    return new WorkerVerticle(
        new WorkerParts(
            "w1",
            new WorkerParts.Ports(onTheLoop(), deliveries, events, handlers),
            settings,
            List.of(queues),
            Duration.ofMinutes(30)));
  }

  /** A worker whose second queue is not answered for, while its first is consumed. */
  private final class HalfStarted {
    final Promise<Deliveries.Subscription> second = Promise.promise();
    final Promise<Void> running = Promise.promise();
    final Promise<Receipt> run = Promise.promise();
    final WorkerVerticle verticle;
    final Future<String> deployed;

    HalfStarted() {
      Duration minute = Duration.ofSeconds(60);
      verticle =
          verticle(
              minute,
              new TwoQueues(second.future()),
              context -> {
                running.tryComplete();
                return run.future();
              },
              queue(Bench.QUEUE, minute),
              queue("second", minute));
      deployed = vertx.deployVerticle(verticle);
      Await.until("its loop runs", DEADLINE, () -> loop.get() != null);
      deliver("e1");
      Await.result(running.future(), DEADLINE);
    }
  }

  private final class TwoQueues implements Deliveries {
    private final Future<Subscription> second;

    TwoQueues(Future<Subscription> second) {
      this.second = second;
    }

    @Override
    public Future<Subscription> consume(QueueConfig queue, Listener listener) {
      return queue.name().equals("second") ? second : broker.consume(queue, listener);
    }

    @Override
    public Future<Void> publishCopy(String exchange, Delivery.Envelope message) {
      return broker.publishCopy(exchange, message);
    }

    @Override
    public Future<Void> close() {
      return broker.close();
    }
  }

  /** Writes down calls that come from another thread than the worker's. */
  private ActivityStore onTheLoop() {
    InvocationHandler watching =
        (proxy, method, arguments) -> {
          if (Vertx.currentContext() != loop.get()) {
            elsewhere.add(method.getName() + " on " + Thread.currentThread().getName());
          }
          return method.invoke(store, arguments);
        };
    return (ActivityStore)
        Proxy.newProxyInstance(
            ActivityStore.class.getClassLoader(), new Class<?>[] {ActivityStore.class}, watching);
  }

  private void deliver(String id) {
    loop.get().runOnContext(v -> broker.deliver(Bench.message("t", id)));
  }

  /** On the loop, which alone may look at the fakes. */
  private <T> T look(java.util.function.Supplier<T> what) {
    Promise<T> seen = Promise.promise();
    loop.get().runOnContext(v -> seen.complete(what.get()));
    return Await.result(seen.future(), DEADLINE);
  }

  private ActivityState state(String id) {
    return look(
        () -> {
          FakeActivityStore.Row row = store.row(Bench.QUEUE, id);
          return row == null ? null : row.state;
        });
  }

  @Test
  void aHandlerMayReturnOnAnyThread() {
    Promise<Receipt> run = Promise.promise();
    CountDownLatch running = new CountDownLatch(1);
    start(
        Duration.ofSeconds(30),
        context -> {
          running.countDown();
          return run.future();
        });
    deliver("e1");
    Await.until("it runs", DEADLINE, () -> running.getCount() == 0);
    Thread other = new Thread(() -> run.complete(Receipt.succeeded()), "somebody-elses");
    other.start();
    Await.until("done", DEADLINE, () -> state("e1") == ActivityState.COMPLETED);
    assertThat(elsewhere).isEmpty();
    assertThat(look(() -> broker.acked.size())).isEqualTo(1);
  }

  @Test
  void aQueueThatIsRefusedEndsTheStartWhenWhatRunsHasEnded() {
    HalfStarted worker = new HalfStarted();
    FencepostException refusal = new FencepostException(FailureKind.CONFIGURATION, "differs");
    loop.get().runOnContext(v -> worker.second.fail(refusal));
    Await.until("intake is stopped", DEADLINE, () -> look(() -> broker.stopped));
    assertThat(worker.deployed.isComplete()).as("while a handler runs").isFalse();
    worker.run.complete(Receipt.succeeded());
    assertThat(Await.failure(worker.deployed)).isSameAs(refusal);
    assertThat(store.row(Bench.QUEUE, "e1").state).isEqualTo(ActivityState.COMPLETED);
    assertThat(broker.acked).hasSize(1);
    assertThat(broker.closed).isTrue();
  }

  @Test
  void aStartThatIsGivenUpEndsWhatRunsAndConsumesNothingMore() {
    HalfStarted worker = new HalfStarted();
    worker.verticle.giveUpStart();
    Await.until("intake is stopped", DEADLINE, () -> look(() -> broker.stopped));
    assertThat(worker.deployed.isComplete()).as("while a handler runs").isFalse();
    worker.run.complete(Receipt.succeeded());
    assertThat(Await.failure(worker.deployed)).hasMessage("stopped while starting");
    assertThat(store.row(Bench.QUEUE, "e1").state).isEqualTo(ActivityState.COMPLETED);

    FakeDeliveries late = new FakeDeliveries();
    Deliveries.Subscription made = late.consume(queue("late", DEADLINE), new Unheard()).result();
    loop.get().runOnContext(v -> worker.second.complete(made));
    Await.until("closed at once", DEADLINE, () -> look(() -> late.stopped && late.closed));
  }

  @Test
  void aStartThatIsCompleteIsNotGivenUp() {
    WorkerVerticle verticle =
        verticle(
            Duration.ofSeconds(1),
            broker,
            context -> Future.succeededFuture(Receipt.succeeded()),
            queue(Bench.QUEUE, Duration.ofSeconds(30)));
    String id = Await.result(vertx.deployVerticle(verticle));
    verticle.giveUpStart();
    deliver("e1");
    Await.until("done", DEADLINE, () -> state("e1") == ActivityState.COMPLETED);
    Await.result(vertx.undeploy(id));
  }

  private static final class Unheard implements Deliveries.Listener {
    @Override
    public void delivered(List<Delivery> batch) {}

    @Override
    public void consuming(long epoch) {}

    @Override
    public void interrupted(FencepostException cause) {}

    @Override
    public void staleAck(Delivery.Tag tag) {}
  }

  @Test
  void w15_aBlockedLoopIsNamedAndItsLateResultRefused() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(LoopWatch.class);
    logger.addAppender(log);
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(1);
    try {
      start(
          Duration.ofSeconds(1),
          context -> {
            if (context.eventId().equals("e1")) {
              blocked.countDown();
              uninterrupted(release);
            }
            return Future.succeededFuture(Receipt.succeeded());
          });
      deliver("e1");
      Await.until("blocked", DEADLINE, () -> blocked.getCount() == 0);
      deliver("e2");
      Await.until(
          "named while it blocks",
          DEADLINE,
          () ->
              List.copyOf(log.list).stream()
                  .anyMatch(
                      line ->
                          line.getFormattedMessage()
                              .startsWith(
                                  "handler event=e1 type=t queue=q blocks the event loop")));
      takeOver(); // the loop stands still: nobody else is at the store
      release.countDown();
      Await.until("refused", DEADLINE, () -> events.leasesLost == 1);
      Await.until("others go on", DEADLINE, () -> state("e2") == ActivityState.COMPLETED);
      assertThat(look(() -> store.row(Bench.QUEUE, "e1").owner)).isEqualTo("other");
      assertThat(state("e1")).isEqualTo(ActivityState.RUNNING);
      assertThat(look(() -> List.copyOf(store.audit))).contains("late e1 fence=1");
    } finally {
      release.countDown();
      logger.detachAppender(log);
    }
  }

  private void takeOver() {
    Evidence evidence =
        Await.value(
            "the lease has expired",
            DEADLINE,
            () -> store.expired(Bench.QUEUE, null, 1).result().stream().findFirst().orElse(null));
    store.recover(
        "other", evidence, RecoveryDecision.RETRY_SAME_ACTIVITY, Bench.message("t", "e1"));
    Claim.Work work = new Claim.Work("t", ActivityKind.IDEMPOTENT, 3, 2, Duration.ofMinutes(5));
    assertThat(store.claimSuspect("other", Bench.QUEUE, Map.of("t", work)).result()).isNotNull();
  }

  private static void uninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
