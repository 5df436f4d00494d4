package dev.fencepost.rabbit;

import dev.fencepost.config.FencepostConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The broker as configured: makes the room's adapters and closes what they opened. */
public final class RabbitBroker {

  private final Vertx vertx;
  private final FencepostConfig.Broker config;
  private final BrokerThreads threads = new BrokerThreads();
  private final BrokerConnector connector;
  private final List<Supplier<Future<Void>>> closing = new ArrayList<>();

  /**
   * Connects to nothing yet.
   *
   * @throws dev.fencepost.model.FencepostException of kind CONFIGURATION when a URI is unusable
   */
  public RabbitBroker(Vertx vertx, FencepostConfig.Broker config) {
    this.vertx = vertx;
    this.config = config;
    this.connector =
        new BrokerConnector(vertx, threads, config.uris().stream().map(BrokerUri::parse).toList());
  }

  /** What is wrong with one of {@code broker.uris}; empty for one that can be used. */
  public static Optional<String> uriFault(String uri) {
    return BrokerUri.faultOf(uri);
  }

  /** A publisher for the relay. */
  public RabbitPublisher publisher(FencepostConfig.Relay.Limits limits) {
    RabbitPublisher publisher = new RabbitPublisher(vertx, threads, connector, limits);
    closing.add(publisher::close);
    return publisher;
  }

  /** Consumers for the worker. */
  public RabbitDeliveries deliveries() {
    CopyPublisher copies = new CopyPublisher(vertx, threads, connector);
    BrokerContract contract = new BrokerContract(vertx, config);
    RabbitDeliveries deliveries = new RabbitDeliveries(vertx, threads, connector, contract, copies);
    closing.add(() -> deliveries.close().eventually(contract::close));
    return deliveries;
  }

  /** Questions for status and health. */
  public BrokerAdmin admin() {
    BrokerAdmin admin = new BrokerAdmin(vertx, threads, connector);
    closing.add(admin::close);
    return admin;
  }

  /** Closes all that was made here, and the threads. */
  public Future<Void> close() {
    List<Future<Void>> all = closing.stream().map(Supplier::get).toList();
    return Future.join(all)
        .<Void>mapEmpty()
        .eventually(
            () -> {
              threads.close();
              return Future.succeededFuture();
            });
  }
}
