package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.OutboxRow;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A delivered message as it is published once more. What would make the broker expire, refuse or
 * route the copy elsewhere moves into a header {@code fencepost-original-…}.
 */
final class CopyMessage {

  private static final String ORIGINAL = "fencepost-original-";
  private static final int PERSISTENT = 2;

  private CopyMessage() {}

  /**
   * @param id tells the copies of one channel apart; the message keeps its own identity
   */
  static Outgoing of(long id, String exchange, Delivery.Envelope from) {
    Map<String, Object> headers = new HashMap<>(from.headers());
    for (String name : List.of("CC", "BCC")) {
      move(headers, name, headers.remove(name));
    }
    move(headers, "expiration", from.property("expiration"));
    move(headers, "user-id", from.property("user_id"));
    BasicProperties properties =
        new BasicProperties.Builder()
            .messageId(from.property("message_id"))
            .type(from.property("type"))
            .contentType(from.property("content_type"))
            .contentEncoding(from.property("content_encoding"))
            .correlationId(from.property("correlation_id"))
            .replyTo(from.property("reply_to"))
            .appId(from.property("app_id"))
            .priority(from.properties().get("priority") instanceof Integer p ? p : null)
            .timestamp(from.properties().get("timestamp") instanceof Date at ? at : null)
            .deliveryMode(PERSISTENT)
            .headers(headers)
            .build();
    return new Outgoing(
        id,
        "copy-" + id,
        new OutboxRow.Route(exchange, from.routingKey()),
        properties,
        from.body(),
        false);
  }

  private static void move(Map<String, Object> headers, String name, @Nullable Object value) {
    if (value != null) {
      headers.put(ORIGINAL + name, value);
    }
  }
}
