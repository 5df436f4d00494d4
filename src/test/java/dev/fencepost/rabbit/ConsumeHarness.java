package dev.fencepost.rabbit;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.Deliveries;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Deliveries on a context of their own. */
final class ConsumeHarness implements AutoCloseable {

  final Vertx vertx = Vertx.vertx();
  final Context context = vertx.getOrCreateContext();
  final RabbitBroker broker;
  final RabbitDeliveries deliveries;

  ConsumeHarness(String... uris) {
    this(new FencepostConfig.Broker(List.of(uris), null, Duration.ofMinutes(30)));
  }

  ConsumeHarness(FencepostConfig.Broker config) {
    broker = new RabbitBroker(vertx, config);
    deliveries = broker.deliveries();
  }

  /** What a listener was told. */
  static final class Told implements Deliveries.Listener {
    final List<Delivery> delivered = new CopyOnWriteArrayList<>();
    final List<Integer> batches = new CopyOnWriteArrayList<>();
    final List<Long> epochs = new CopyOnWriteArrayList<>();
    final List<FencepostException> interruptions = new CopyOnWriteArrayList<>();
    final List<Delivery.Tag> stale = new CopyOnWriteArrayList<>();
    volatile Thread thread;

    @Override
    public void delivered(List<Delivery> batch) {
      thread = Thread.currentThread();
      batches.add(batch.size());
      delivered.addAll(batch);
    }

    @Override
    public void consuming(long epoch) {
      epochs.add(epoch);
    }

    @Override
    public void interrupted(FencepostException cause) {
      interruptions.add(cause);
    }

    @Override
    public void staleAck(Delivery.Tag tag) {
      stale.add(tag);
    }

    void awaitDelivered(int count) {
      Await.until(count + " deliveries", () -> delivered.size() >= count);
    }

    void awaitEpochs(int count) {
      Await.until(count + " registrations", () -> epochs.size() >= count);
    }
  }

  static QueueConfig queue(String name, QueueConfig.Declare declare, int prefetch) {
    return new QueueConfig(
        name,
        "app." + name,
        declare,
        new QueueConfig.Intake(prefetch, prefetch, QueueConfig.Ordering.NONE),
        null,
        null,
        Map.of());
  }

  static QueueConfig.Declare declare(String type, QueueConfig.Binding... bindings) {
    return new QueueConfig.Declare(type, List.of(bindings));
  }

  Deliveries.Subscription consume(QueueConfig queue, Told told) {
    return Await.result(onContext(() -> deliveries.consume(queue, told)));
  }

  void ack(Deliveries.Subscription subscription, Delivery.Tag... tags) {
    onContext(
        () -> {
          for (Delivery.Tag tag : tags) {
            subscription.ack(tag);
          }
          return Future.succeededFuture();
        });
  }

  <T> Future<T> onContext(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(v -> call.get().onComplete(promise));
    return promise.future();
  }

  @Override
  public void close() {
    Await.result(onContext(broker::close));
    Await.result(vertx.close());
  }
}
