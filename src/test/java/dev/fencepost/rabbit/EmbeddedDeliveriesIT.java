package dev.fencepost.rabbit;

import static dev.fencepost.rabbit.ConsumeHarness.declare;
import static dev.fencepost.rabbit.ConsumeHarness.queue;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.embedded.EmbeddedBroker;
import dev.fencepost.model.Delivery;
import dev.fencepost.rabbit.ConsumeHarness.Told;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.Deliveries.Subscription;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class EmbeddedDeliveriesIT {

  private final Told told = new Told();

  @Test
  void declaresWithoutArgumentsConsumesAndAcknowledges() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start();
        ConsumeHarness harness = new ConsumeHarness(broker.uri());
        Plain plain = new Plain(broker.uri())) {
      QueueConfig queue =
          queue("a", declare("quorum", new QueueConfig.Binding("orders", "topic", "order.#")), 64);
      Subscription subscription = harness.consume(queue, told);
      told.awaitEpochs(1);
      for (int i = 0; i < 60; i++) {
        plain.channel.basicPublish(
            "orders",
            "order.placed",
            new BasicProperties.Builder().messageId("m-" + i).build(),
            "{}".getBytes(StandardCharsets.UTF_8));
      }
      told.awaitDelivered(60);
      harness.ack(
          subscription,
          told.delivered.subList(10, 60).stream().map(Delivery::tag).toArray(Delivery.Tag[]::new));
      harness.ack(
          subscription,
          told.delivered.subList(0, 5).stream().map(Delivery::tag).toArray(Delivery.Tag[]::new));
      Await.result(harness.onContext(subscription::close));
      // The five that were not acknowledged are ready again.
      Await.until("five are back", () -> plain.depth("app.a") == 5);
    }
  }
}
