package dev.fencepost.worker;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** A worker on fakes, turned by hand: one queue "q", no broker, no database, no waiting. */
final class Bench {
  static final String QUEUE = "q";

  final VirtualTimers time = new VirtualTimers();
  final FakeActivityStore store = new FakeActivityStore(time::nanos);
  final FakeDeliveries broker = new FakeDeliveries();
  final RecordedEvents events = new RecordedEvents();
  final List<String> ran = new ArrayList<>();
  private final Map<String, ActivityConfig> types = new LinkedHashMap<>();
  private final Map<String, BoundHandler> handlers = new HashMap<>();
  private final List<Runnable> threads = new ArrayList<>();
  final List<Runnable> loopChecks = new ArrayList<>();
  private QueueConfig.Ordering ordering = QueueConfig.Ordering.NONE;
  private String deadLetterExchange;
  private String defaultType;
  private int concurrency = 64;
  private int prefetch = 256;
  private int queues = 1;
  String owner = "w1";
  Worker worker;

  /** Times of a type; the others have these defaults. */
  record Times(Duration ttl, Duration soft, Duration hard, Duration progress) {
    static final Times DEFAULT =
        new Times(Duration.ofSeconds(30), Duration.ofSeconds(15), Duration.ofSeconds(20), null);
  }

  Bench type(String type, ActivityKind kind, Function<ActivityContext, Future<Receipt>> handler) {
    return type(type, kind, 32, Times.DEFAULT, new BoundHandler.Async(recording(handler)));
  }

  Bench effect(String type, Function<ActivityContext, Future<Receipt>> handler) {
    EffectHandler effect =
        (context, transaction) -> {
          ran.add(context.eventId());
          return handler.apply(context);
        };
    return type(type, ActivityKind.EFFECT, 64, Times.DEFAULT, new BoundHandler.Effect(effect));
  }

  ActivityHandler recording(Function<ActivityContext, Future<Receipt>> handler) {
    return context -> {
      ran.add(context.eventId());
      return handler.apply(context);
    };
  }

  Bench type(String type, ActivityKind kind, int slots, Times times, BoundHandler handler) {
    return type(type, kind, slots, times, handler, null);
  }

  Bench type(
      String type,
      ActivityKind kind,
      int slots,
      Times times,
      BoundHandler handler,
      ActivityConfig.RetryBudget budget) {
    handlers.put(type, handler);
    types.put(
        type,
        new ActivityConfig(
            type,
            kind,
            new ActivityConfig.Handler.JavaClass(type),
            slots,
            new ActivityConfig.Timing(
                new FencepostConfig.LeaseTimes(times.ttl(), times.ttl().dividedBy(3)),
                times.soft(),
                times.hard(),
                times.progress()),
            new ActivityConfig.Retry(2, Duration.ofSeconds(5), 2, Duration.ofHours(1), 0, 3),
            budget));
    return this;
  }

  Bench ordered() {
    ordering = QueueConfig.Ordering.KEY;
    return this;
  }

  Bench concurrency(int slots) {
    concurrency = slots;
    return this;
  }

  Bench prefetch(int most) {
    prefetch = most;
    broker.prefetch = most;
    return this;
  }

  Bench deadLetterExchange(String exchange) {
    deadLetterExchange = exchange;
    return this;
  }

  /** The one queue, and others with the same types to which nothing is delivered. */
  Bench queues(int number) {
    queues = number;
    return this;
  }

  Bench defaultType(String type) {
    defaultType = type;
    return this;
  }

  Bench start() {
    List<QueueConfig> all = new ArrayList<>();
    for (int i = 1; i < queues; i++) {
      all.add(queue(QUEUE + i));
    }
    all.add(queue(QUEUE)); // the broker delivers to whoever came last
    FencepostConfig.Worker settings =
        new FencepostConfig.Worker(
            true,
            4,
            Duration.ofSeconds(30),
            Duration.ofSeconds(5),
            Duration.ofHours(24),
            Duration.ofDays(7));
    Executor onHand = threads::add;
    worker =
        new Worker(
            new WorkerParts(
                owner,
                new WorkerParts.Ports(
                    store, broker, events, (q, activity) -> handlers.get(activity.type())),
                settings,
                all,
                Duration.ofMinutes(30)),
            time,
            onHand,
            new LoopWatch(time, loopChecks::add));
    worker.start();
    time.settle();
    return this;
  }

  private QueueConfig queue(String name) {
    return new QueueConfig(
        name,
        "app." + name,
        null,
        new QueueConfig.Intake(prefetch, concurrency, ordering),
        deadLetterExchange,
        defaultType,
        types);
  }

  /** Runs what was given to the pool of blocking threads. */
  void runThreads() {
    List<Runnable> now = new ArrayList<>(threads);
    threads.clear();
    now.forEach(Runnable::run);
    time.settle();
  }

  /** The one task that was given to the pool, on a thread of its own. */
  Thread threadForOne() {
    if (threads.size() != 1) {
      throw new AssertionError("tasks for threads: " + threads.size());
    }
    Thread thread = new Thread(threads.remove(0), "handler");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  Bench deliver(String type, String... ids) {
    for (String id : ids) {
      broker.deliver(message(type, id));
    }
    time.settle();
    return this;
  }

  Bench advance(long millis) {
    time.advance(Duration.ofMillis(millis));
    return this;
  }

  FakeActivityStore.Row row(String id) {
    return store.row(QUEUE, id);
  }

  static Delivery.Envelope message(String type, String id) {
    return message(type, id, null);
  }

  static Delivery.Envelope message(String type, String id, String key) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("message_id", id);
    properties.put("type", type);
    return new Delivery.Envelope(
        "orders",
        type,
        properties,
        key == null ? Map.of() : Map.of("fencepost-key", key),
        "{}".getBytes(StandardCharsets.UTF_8),
        null);
  }

  static Future<Receipt> done() {
    return Future.succeededFuture(Receipt.succeeded());
  }
}
