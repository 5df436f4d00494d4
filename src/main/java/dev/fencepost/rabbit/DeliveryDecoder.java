package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.LongString;
import dev.fencepost.model.Delivery;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages as the client read them to {@link Delivery}, never failing on what they hold. */
final class DeliveryDecoder {

  private static final String DELIVERY_COUNT = "x-delivery-count";

  /** What the client puts in the place of bytes that are not UTF-8. */
  private static final char REPLACEMENT = '\uFFFD';

  /** No sound producer nests headers like this, and what stores them reads no deeper than 1,000. */
  static final int MAX_DEPTH = 100;

  private final String queue;

  /**
   * @param queue the consumer's name
   */
  DeliveryDecoder(String queue) {
    this.queue = queue;
  }

  Delivery decode(long epoch, Envelope envelope, BasicProperties properties, byte[] body) {
    Reading reading = new Reading();
    Map<String, Object> headers = reading.headers(properties.getHeaders());
    Map<String, Object> texts = reading.properties(properties);
    return new Delivery(
        queue,
        new Delivery.Tag(epoch, envelope.getDeliveryTag()),
        envelope.isRedeliver(),
        deliveries(envelope, headers),
        new Delivery.Envelope(
            envelope.getExchange(), envelope.getRoutingKey(), texts, headers, body, reading.fault));
  }

  /** A quorum queue counts the deliveries before this one. */
  private static long deliveries(Envelope envelope, Map<String, Object> headers) {
    if (headers.get(DELIVERY_COUNT) instanceof Number count) {
      return count.longValue() + 1;
    }
    return envelope.isRedeliver() ? 0 : 1;
  }

  private static final class Reading {
    private @Nullable String fault;

    Map<String, Object> headers(@Nullable Map<String, Object> table) {
      return table == null || table.isEmpty() ? Map.of() : table("header", table, 1);
    }

    Map<String, Object> properties(BasicProperties from) {
      Map<String, Object> to = new LinkedHashMap<>();
      text(to, "message_id", from.getMessageId());
      text(to, "type", from.getType());
      text(to, "content_type", from.getContentType());
      text(to, "content_encoding", from.getContentEncoding());
      text(to, "correlation_id", from.getCorrelationId());
      text(to, "reply_to", from.getReplyTo());
      text(to, "expiration", from.getExpiration());
      text(to, "user_id", from.getUserId());
      text(to, "app_id", from.getAppId());
      text(to, "cluster_id", from.getClusterId());
      put(to, "delivery_mode", from.getDeliveryMode());
      put(to, "priority", from.getPriority());
      put(to, "timestamp", from.getTimestamp());
      return to;
    }

    private static void put(Map<String, Object> to, String name, @Nullable Object value) {
      if (value != null) {
        to.put(name, value);
      }
    }

    /**
     * The client decodes these leniently: two identities that differ only in broken bytes would
     * become one.
     */
    private void text(Map<String, Object> to, String name, @Nullable String value) {
      if (value == null) {
        return;
      }
      if (value.indexOf(REPLACEMENT) >= 0) {
        fault(name + " is not UTF-8");
      }
      to.put(name, value);
    }

    private Map<String, Object> table(String path, Map<?, ?> from, int depth) {
      Map<String, Object> to = new HashMap<>();
      from.forEach(
          (name, value) -> {
            String key = String.valueOf(name);
            if (key.indexOf(REPLACEMENT) >= 0) {
              fault(path + ": a name is not UTF-8");
            }
            to.put(key, value(path + " " + key, value, depth));
          });
      return to;
    }

    @SuppressWarnings("NullAway") // AMQP's void is null; the map's values may be null
    private @Nullable Object value(String path, @Nullable Object value, int depth) {
      if (value instanceof LongString text) {
        return longString(path, text.getBytes());
      }
      if (depth == MAX_DEPTH && (value instanceof Map || value instanceof List)) {
        fault("headers are nested deeper than " + MAX_DEPTH);
        return "…";
      }
      if (value instanceof Map<?, ?> map) {
        return table(path, map, depth + 1);
      }
      if (value instanceof List<?> list) {
        List<Object> values = new ArrayList<>(list.size());
        list.forEach(each -> values.add(value(path, each, depth + 1)));
        return values;
      }
      return value;
    }

    private Object longString(String path, byte[] bytes) {
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      } catch (CharacterCodingException e) {
        fault(path + " is not UTF-8");
        return bytes;
      }
    }

    private void fault(String reason) {
      if (fault == null) {
        fault = reason;
      }
    }
  }
}
