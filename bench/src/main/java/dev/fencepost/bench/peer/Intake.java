package dev.fencepost.bench.peer;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;

/** Takes messages into a job store, 500 together, and acknowledges them once they are stored. */
final class Intake {

  private static final int TOGETHER = 500;

  private record Arrival(long tag, String id) {}

  private final Channel channel;
  private final BlockingQueue<Arrival> arrivals = new ArrayBlockingQueue<>(2 * TOGETHER);

  private Intake(Channel channel) {
    this.channel = channel;
  }

  /** Never returns. */
  static void run(String brokerUri, String queue, Consumer<List<String>> store) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(brokerUri);
    Channel channel = factory.newConnection().createChannel();
    channel.basicQos(2 * TOGETHER);
    Intake intake = new Intake(channel);
    channel.basicConsume(
        queue,
        false,
        new DefaultConsumer(channel) {
          @Override
          public void handleDelivery(
              String tag, Envelope envelope, BasicProperties properties, byte[] body) {
            intake.arrivals.add(new Arrival(envelope.getDeliveryTag(), properties.getMessageId()));
          }
        });
    while (true) {
      intake.next(store);
    }
  }

  private void next(Consumer<List<String>> store) throws Exception {
    List<Arrival> taken = new ArrayList<>();
    taken.add(arrivals.take());
    arrivals.drainTo(taken, TOGETHER - 1);
    store.accept(taken.stream().map(Arrival::id).toList());
    channel.basicAck(taken.get(taken.size() - 1).tag(), true);
  }
}
