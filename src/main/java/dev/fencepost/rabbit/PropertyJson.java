package dev.fencepost.rabbit;

import com.fasterxml.jackson.databind.JsonNode;
import com.rabbitmq.client.AMQP.BasicProperties;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The outbox's further basic properties (JSON, by their AMQP names) onto a message. */
final class PropertyJson {

  /** RabbitMQ's own limit; beyond it the broker closes the channel. */
  private static final long MAX_EXPIRATION = 4_294_967_295L;

  private static final int MAX_PRIORITY = 255;

  private PropertyJson() {}

  private interface Setter {
    void set(BasicProperties.Builder target, String value);
  }

  private static final Map<String, Setter> TEXTS =
      Map.of(
          "correlation_id", BasicProperties.Builder::correlationId,
          "reply_to", BasicProperties.Builder::replyTo,
          "user_id", BasicProperties.Builder::userId,
          "app_id", BasicProperties.Builder::appId,
          "content_encoding", BasicProperties.Builder::contentEncoding);

  /** Sets all of them; returns their size on the wire. A null value is an absent property. */
  static int apply(String text, BasicProperties.Builder target) throws RefusedRow {
    int size = 0;
    for (Map.Entry<String, JsonNode> entry : HeaderJson.object("properties", text).properties()) {
      if (!entry.getValue().isNull()) {
        size += apply(entry.getKey(), entry.getValue(), target);
      }
    }
    return size;
  }

  private static int apply(String name, JsonNode value, BasicProperties.Builder target)
      throws RefusedRow {
    if (name.equals("priority")) {
      target.priority(priority(value));
      return 1;
    }
    if (name.equals("expiration")) {
      String expiration = expiration(value);
      target.expiration(expiration);
      return expiration.length() + 1;
    }
    Setter setter = TEXTS.get(name);
    if (setter == null) {
      throw RefusedRow.property(
          "unknown property "
              + name
              + ", known are priority, expiration, "
              + String.join(", ", new TreeSet<>(TEXTS.keySet())));
    }
    if (!value.isTextual()) {
      throw RefusedRow.property(name + " is not text");
    }
    setter.set(target, value.textValue());
    return ShortStrings.check(name, value.textValue());
  }

  private static int priority(JsonNode value) throws RefusedRow {
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < 0
        || value.intValue() > MAX_PRIORITY) {
      throw RefusedRow.property("priority is not an integer from 0 to 255");
    }
    return value.intValue();
  }

  private static String expiration(JsonNode value) throws RefusedRow {
    String text = value.isIntegralNumber() ? value.asText() : textOf(value);
    if (text == null || !text.matches("\\d{1,10}") || Long.parseLong(text) > MAX_EXPIRATION) {
      throw RefusedRow.property("expiration is not milliseconds from 0 to " + MAX_EXPIRATION);
    }
    return text;
  }

  private static @Nullable String textOf(JsonNode value) {
    return value.isTextual() ? value.textValue() : null;
  }
}
