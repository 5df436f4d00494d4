package dev.fencepost.worker;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Publishes what a test wants the worker to get, confirmed. */
final class Publishing implements AutoCloseable {
  private final Connection connection;
  final Channel channel;

  Publishing(String brokerUri) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(brokerUri);
    connection = factory.newConnection("test");
    channel = connection.createChannel();
    channel.confirmSelect();
  }

  /** Sends events to a queue that it declares; returns when they are confirmed. */
  static void toQueue(String brokerUri, String queue, String type, String... ids) throws Exception {
    try (Publishing publishing = new Publishing(brokerUri)) {
      publishing.declare(queue);
      for (String id : ids) {
        publishing.send(queue, type, id);
      }
      publishing.confirmed();
    }
  }

  void declare(String queue) throws Exception {
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
  }

  void send(String queue, String type, String eventId) throws Exception {
    send(queue, properties(type, eventId), "{\"id\":\"" + eventId + "\"}");
  }

  static AMQP.BasicProperties properties(String type, String eventId) {
    return new AMQP.BasicProperties.Builder()
        .messageId(eventId)
        .type(type)
        .deliveryMode(2)
        .contentType("application/json")
        .build();
  }

  void send(String queue, AMQP.BasicProperties properties, String body) throws Exception {
    channel.basicPublish("", queue, properties, body.getBytes(StandardCharsets.UTF_8));
  }

  void confirmed() throws Exception {
    channel.waitForConfirmsOrDie(30_000);
  }

  @Override
  public void close() throws Exception {
    connection.close();
  }
}
