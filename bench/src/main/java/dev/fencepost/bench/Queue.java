package dev.fencepost.bench;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DeliverCallback;
import dev.fencepost.bench.peer.Messages;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.IntConsumer;

/** One queue, seen from the harness: it fills it, looks at its depth, or consumes it. */
final class Queue implements Destination, AutoCloseable {

  private static final int CONFIRMED_TOGETHER = 1000;

  private final Connection connection;
  private final Channel channel;
  private final String name;
  private final String type;

  Queue(String uri, String name, String type) {
    this.name = name;
    this.type = type;
    try {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(uri);
      connection = factory.newConnection("bench " + name);
      // A publisher would wait for the end of an alarm that never ends.
      connection.addBlockedListener(
          reason -> new Thread(() -> abort("blocked: " + reason)).start(), () -> {});
      channel = connection.createChannel();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    // A scenario before this one may have left another type of that name.
    recreate();
  }

  /** Not by the thread that is told of the alarm: it would wait for itself. */
  private void abort(String reason) {
    connection.abort(AMQP.CONNECTION_FORCED, reason, 1000);
  }

  String name() {
    return name;
  }

  String type() {
    return type;
  }

  void declare() {
    call(() -> channel.queueDeclare(name, true, false, false, Map.of("x-queue-type", type)));
  }

  @Override
  public String exchange() {
    return "";
  }

  @Override
  public String routingKey() {
    return name;
  }

  @Override
  public int copies() {
    return 1;
  }

  void declareFanout(String exchange) {
    call(() -> channel.exchangeDeclare(exchange, "fanout", true));
  }

  void deleteExchange(String exchange) {
    call(() -> channel.exchangeDelete(exchange));
  }

  void bind(String exchange) {
    call(() -> channel.queueBind(name, exchange, ""));
  }

  /** Throws away what is ready, and says how much it was. */
  long purge() {
    return call(() -> (long) channel.queuePurge(name).getMessageCount());
  }

  @Override
  public void recreate() {
    call(() -> channel.queueDelete(name));
    declare();
  }

  /** Ready messages. Not counted by a consumer, so it costs the broker next to nothing. */
  @Override
  public long depth() {
    return call(() -> (long) channel.queueDeclarePassive(name).getMessageCount());
  }

  /** Publishes messages with ids {@code prefix-0} and on, and returns when all are confirmed. */
  void fill(String prefix, int count, int size, String activity) {
    call(
        () -> {
          Channel filling = connection.createChannel();
          filling.confirmSelect();
          for (int i = 0; i < count; i++) {
            BasicProperties properties = Messages.properties(prefix + "-" + i, activity);
            filling.basicPublish("", name, properties, Messages.body(i, size));
            if (i % CONFIRMED_TOGETHER == CONFIRMED_TOGETHER - 1) {
              filling.waitForConfirmsOrDie(60_000);
            }
          }
          filling.waitForConfirmsOrDie(60_000);
          filling.close();
          return null;
        });
  }

  /** Hands the number in each arriving body on, from the client's own thread. */
  AutoCloseable consume(IntConsumer arrived) {
    return call(
        () -> {
          Channel consuming = connection.createChannel();
          DeliverCallback each =
              (tag, delivery) -> arrived.accept(ByteBuffer.wrap(delivery.getBody()).getInt());
          consuming.basicConsume(name, true, each, tag -> {});
          return consuming::close;
        });
  }

  private interface Call<T> {
    T run() throws Exception;
  }

  private static <T> T call(Call<T> call) {
    try {
      return call.run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** What it still holds would cost the broker while others are measured. */
  @Override
  public void close() {
    call(
        () -> {
          channel.queueDelete(name);
          connection.close();
          return null;
        });
  }
}
