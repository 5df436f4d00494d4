package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.pg.PgRelay;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

/** One relay as a process would run it, on an event loop of its own. */
final class RelayProcess implements AutoCloseable {
  private static final AtomicLong COUNTER = new AtomicLong();

  final Vertx vertx = Vertx.vertx();
  final Context context = vertx.getOrCreateContext();
  final String instance = "test-" + ProcessHandle.current().pid() + "-" + COUNTER.incrementAndGet();
  final Events events = new Events();
  final PgDatabase database;
  private final Publisher publisher;
  private RelayLoop loop;

  RelayProcess(
      FencepostConfig.Database config,
      FencepostConfig.Relay relay,
      Function<Vertx, Publisher> publishers) {
    database = PgDatabase.open(vertx, config, instance);
    publisher = publishers.apply(vertx);
    RelayPorts ports = PgRelay.ports(vertx, database, publisher, events);
    run(
        () -> {
          loop = new RelayLoop(vertx, new RelaySettings(instance, relay), ports);
          loop.start();
          return Future.succeededFuture();
        });
  }

  static RelayProcess onRabbit(String database, String broker, FencepostConfig.Relay relay) {
    return new RelayProcess(
        RelayConfigs.database(database),
        relay,
        vertx -> new RabbitBroker(vertx, RelayConfigs.broker(broker)).publisher(relay.limits()));
  }

  <T> T run(Supplier<Future<T>> work) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            work.get().onComplete(promise);
          } catch (RuntimeException e) {
            promise.fail(e);
          }
        });
    return Await.result(promise.future());
  }

  int lanes() {
    return run(() -> Future.succeededFuture(loop.lanes().size()));
  }

  /** Drains and leaves. */
  void stop() {
    run(() -> loop.stop());
  }

  /** Ends it as a killed process ends: nothing is given back, no answer is heard any more. */
  void kill() {
    Await.result(vertx.close());
  }

  @Override
  public void close() {
    stop();
    run(publisher::close);
    run(database::close);
    kill();
  }

  /** What the relay told of itself. */
  static final class Events implements RelayEvents {
    final Map<Integer, Long> published = new ConcurrentHashMap<>();
    final Map<dev.fencepost.model.ParkedReason, Long> refused = new ConcurrentHashMap<>();
    final Map<Integer, dev.fencepost.model.LagCause> causes = new ConcurrentHashMap<>();
    volatile int owned;
    volatile int mostUnconfirmed;

    @Override
    public void published(int lane, int rows) {
      published.merge(lane, (long) rows, Long::sum);
    }

    @Override
    public void refused(dev.fencepost.model.ParkedReason reason) {
      refused.merge(reason, 1L, Long::sum);
    }

    @Override
    public void confirmed(java.time.Duration took) {}

    @Override
    public void unconfirmed(int lane, int rows) {
      mostUnconfirmed = Math.max(mostUnconfirmed, rows);
    }

    @Override
    public void lag(int lane, java.time.Duration oldest, dev.fencepost.model.LagCause cause) {
      causes.put(lane, cause);
    }

    @Override
    public void parked(long rows) {}

    @Override
    public void lanesOwned(Set<Integer> lanes) {
      owned = lanes.size();
    }
  }
}
