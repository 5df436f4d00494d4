package dev.fencepost.relay;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import dev.fencepost.testing.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

/** A plain consumer beside the relay: what arrived in its queues, in order. */
final class Arrivals implements AutoCloseable {
  record Arrival(String queue, AMQP.BasicProperties properties, byte[] body) {
    String id() {
      return properties.getMessageId();
    }

    String text() {
      return new String(body, java.nio.charset.StandardCharsets.UTF_8);
    }

    String key() {
      Object key = properties.getHeaders().get("fencepost-key");
      return key == null ? null : key.toString();
    }
  }

  final ConcurrentLinkedQueue<Arrival> all = new ConcurrentLinkedQueue<>();
  private final ConnectionFactory factory = new ConnectionFactory();
  private Connection connection;
  Channel channel;

  Arrivals(String uri) {
    try {
      factory.setUri(uri);
      factory.setAutomaticRecoveryEnabled(false);
      connect();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Of a queue that it declares. */
  static Arrivals of(String uri, String queue) throws IOException {
    Arrivals arrivals = new Arrivals(uri);
    arrivals.declare(queue, Map.of());
    arrivals.consume(queue);
    return arrivals;
  }

  /** Connects, again after a restart of the broker. */
  void connect() throws IOException, TimeoutException {
    connection = factory.newConnection("arrivals");
    channel = connection.createChannel();
  }

  void declare(String queue, Map<String, Object> arguments) throws IOException {
    channel.queueDeclare(queue, true, false, false, arguments);
  }

  void consume(String queue) throws IOException {
    Channel own = connection.createChannel();
    own.basicConsume(
        queue,
        true,
        new DefaultConsumer(own) {
          @Override
          public void handleDelivery(
              String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
            all.add(new Arrival(queue, properties, body));
          }
        });
  }

  Set<String> ids() {
    Set<String> ids = new HashSet<>();
    all.forEach(each -> ids.add(each.id()));
    return ids;
  }

  List<String> texts() {
    return new ArrayList<>(all).stream().map(Arrival::text).toList();
  }

  void await(int distinct, Duration within) {
    Await.asserted(
        distinct + " events",
        within,
        () -> org.assertj.core.api.Assertions.assertThat(ids()).hasSize(distinct));
  }

  @Override
  public void close() {
    connection.abort(1000);
  }
}
