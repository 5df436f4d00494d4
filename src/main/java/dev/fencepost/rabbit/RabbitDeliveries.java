package dev.fencepost.rabbit;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.worker.Deliveries;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;

/** Consumes over connections of its own, apart from those that publish. */
public final class RabbitDeliveries implements Deliveries {

  private static final int CHANNELS_PER_CONNECTION = 16;
  private static final String NAME = "fencepost-worker";

  private final Vertx vertx;
  private final BrokerThreads threads;
  private final SharedConnections connections;
  private final ContractCheck contract;
  private final CopyPublisher copies;
  private final List<QueueConsumer> consumers = new ArrayList<>();

  RabbitDeliveries(
      Vertx vertx,
      BrokerThreads threads,
      BrokerConnector connector,
      ContractCheck contract,
      CopyPublisher copies) {
    this.vertx = vertx;
    this.threads = threads;
    this.contract = contract;
    this.copies = copies;
    this.connections = new SharedConnections(connector, threads, NAME, CHANNELS_PER_CONNECTION);
  }

  @Override
  public Future<Subscription> consume(QueueConfig queue, Listener listener) {
    Context context = vertx.getOrCreateContext();
    QueueConsumer consumer =
        new QueueConsumer(
            new QueueConsumer.Environment(vertx, context, threads, connections, contract),
            queue,
            listener);
    consumers.add(consumer);
    return consumer.start();
  }

  @Override
  public Future<Void> publishCopy(String exchange, Delivery.Envelope message) {
    return copies.publish(exchange, message);
  }

  /** Whether a connection to the broker is open now. */
  public boolean connected() {
    return connections.connected();
  }

  @Override
  public Future<Void> close() {
    return Future.join(consumers.stream().map(QueueConsumer::closeFromAnywhere).toList())
        .<Void>mapEmpty()
        .eventually(copies::close)
        .eventually(() -> connections.close(vertx.getOrCreateContext()));
  }
}
