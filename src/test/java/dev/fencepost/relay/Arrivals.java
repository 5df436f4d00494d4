package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
  private final Set<String> ids = ConcurrentHashMap.newKeySet();
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
            Arrival arrival = new Arrival(queue, properties, body);
            all.add(arrival);
            ids.add(arrival.id());
          }
        });
  }

  int distinct() {
    return ids.size();
  }

  List<String> texts() {
    return new ArrayList<>(all).stream().map(Arrival::text).toList();
  }

  /**
   * Exactly so many events.
   *
   * @param quiet how long none may arrive: how many arrive in a second is the machine's affair
   */
  void await(int distinct, Duration quiet) {
    do {
      int seen = distinct();
      Await.until(
          distinct + " events, not " + seen,
          quiet,
          () -> distinct() >= distinct || distinct() > seen);
    } while (distinct() < distinct);
    assertThat(distinct()).as("events").isEqualTo(distinct);
  }

  @Override
  public void close() {
    connection.abort(1000);
  }
}
