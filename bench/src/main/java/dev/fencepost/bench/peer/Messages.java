package dev.fencepost.bench.peer;

import com.rabbitmq.client.AMQP.BasicProperties;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.core.MessageDeliveryMode;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** What all publish, so that nobody has more to carry. */
public final class Messages {

  private static final String TYPE = "order.placed";
  private static final String JSON = "application/json";

  private Messages() {}

  /** So many bytes that begin with a number. */
  public static byte[] body(int number, int size) {
    byte[] body = new byte[size];
    Arrays.fill(body, (byte) 'x');
    ByteBuffer.wrap(body).putInt(number);
    return body;
  }

  static BasicProperties properties(String id) {
    return properties(id, TYPE);
  }

  /** The properties of a persistent message. */
  public static BasicProperties properties(String id, String type) {
    return new BasicProperties.Builder()
        .messageId(id)
        .type(type)
        .contentType(JSON)
        .deliveryMode(2)
        .build();
  }

  /** The same as Spring AMQP has it. */
  static Message spring(String id, byte[] body) {
    return MessageBuilder.withBody(body)
        .setMessageId(id)
        .setType(TYPE)
        .setContentType(JSON)
        .setDeliveryMode(MessageDeliveryMode.PERSISTENT)
        .build();
  }

  /** Confirms and returns are correlated; as many channels are cached. */
  static RabbitTemplate template(String brokerUri, int channels) {
    CachingConnectionFactory factory = new CachingConnectionFactory(URI.create(brokerUri));
    factory.setPublisherConfirmType(CachingConnectionFactory.ConfirmType.CORRELATED);
    factory.setPublisherReturns(true);
    factory.setChannelCacheSize(channels);
    RabbitTemplate rabbit = new RabbitTemplate(factory);
    rabbit.setMandatory(true);
    return rabbit;
  }

  static void await(CorrelationData confirm) throws Exception {
    if (!confirm.getFuture().get(30, TimeUnit.SECONDS).ack() || confirm.getReturned() != null) {
      throw new IllegalStateException("refused: " + confirm.getId());
    }
  }
}
