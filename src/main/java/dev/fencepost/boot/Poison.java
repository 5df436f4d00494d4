package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.Delivery.Envelope;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.rabbit.RabbitDeliveries;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Messages of somebody who does not use the outbox, and whom nobody can understand. */
final class Poison {

  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private static final List<Envelope> MESSAGES =
      List.of(
          message(Map.of("type", "demo.booked"), "no message id"),
          message(Map.of(), "no message id and no type"),
          message(Map.of("content_type", "application/cloudevents+json"), "{\"id\": \"a"),
          message(Map.of("content_type", "application/cloudevents+json"), "no JSON"));

  private Poison() {}

  /** Sends them and returns how many they are. Blocks. */
  static long send(FencepostConfig config) {
    return Blocking.<Long>call(
        DEADLINE,
        vertx -> {
          RabbitBroker broker = new RabbitBroker(vertx, config.broker());
          RabbitDeliveries direct = broker.deliveries();
          return onContext(
                  vertx,
                  () ->
                      Future.all(
                              MESSAGES.stream()
                                  .map(message -> direct.publishCopy("demo", message))
                                  .toList())
                          .map(sent -> (long) MESSAGES.size()))
              .eventually(broker::close);
        });
  }

  private static <T> Future<T> onContext(Vertx vertx, java.util.function.Supplier<Future<T>> work) {
    io.vertx.core.Promise<T> promise = io.vertx.core.Promise.promise();
    vertx.getOrCreateContext().runOnContext(v -> work.get().onComplete(promise));
    return promise.future();
  }

  private static Envelope message(Map<String, Object> properties, String body) {
    return new Envelope(
        "demo", "demo.booked", properties, Map.of(), body.getBytes(StandardCharsets.UTF_8), null);
  }
}
