package dev.fencepost.bench.peer;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import java.io.IOException;

/** A consumer that only acknowledges, many at once: what the broker gives to one that promises nothing. */
public final class BareConsumer {

  private static final int TOGETHER = 500;

  private BareConsumer() {}

  public static void main(String[] arguments) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(arguments[1]);
    Channel channel = factory.newConnection().createChannel();
    channel.basicQos(4000);
    channel.basicConsume(
        arguments[2],
        false,
        new DefaultConsumer(channel) {
          @Override
          public void handleDelivery(
              String tag, Envelope envelope, BasicProperties properties, byte[] body)
              throws IOException {
            if (envelope.getDeliveryTag() % TOGETHER == 0) {
              channel.basicAck(envelope.getDeliveryTag(), true);
            }
          }
        });
  }
}
