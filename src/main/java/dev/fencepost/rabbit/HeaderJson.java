package dev.fencepost.rabbit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Headers as the outbox holds them (JSON) to typed AMQP values: integers as 32 or 64 bits, by size;
 * other numbers as double; {@code {"$bytes": base64}} and {@code {"$timestamp": epoch seconds}} for
 * what JSON lacks.
 */
final class HeaderJson {

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private static final int NAME_BYTES = 255;

  private HeaderJson() {}

  /** Parses an object; anything else is refused. */
  static JsonNode object(String what, String text) throws RefusedRow {
    try {
      JsonNode node = JSON.readTree(text);
      if (node != null && node.isObject()) {
        return node;
      }
    } catch (JsonProcessingException e) {
      throw RefusedRow.property(what + " cannot be read: " + e.getOriginalMessage());
    }
    throw RefusedRow.property(what + " are not a JSON object");
  }

  static Map<String, Object> headers(String text) throws RefusedRow {
    Map<String, Object> headers = table("headers", object("headers", text));
    // RabbitMQ routes by these and closes the channel on any other type.
    for (String name : List.of("CC", "BCC")) {
      if (headers.containsKey(name) && !(headers.get(name) instanceof List)) {
        throw RefusedRow.property("header " + name + " is not an array");
      }
    }
    return headers;
  }

  private static Map<String, Object> table(String path, JsonNode object) throws RefusedRow {
    Map<String, Object> table = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      String name = entry.getKey();
      if (ShortStrings.bytes(name) > NAME_BYTES) {
        throw RefusedRow.property(path + ": a name is longer than 255 bytes");
      }
      table.put(name, value(path + "." + name, entry.getValue()));
    }
    return table;
  }

  private static @Nullable Object value(String path, JsonNode node) throws RefusedRow {
    return switch (node.getNodeType()) {
      case STRING -> node.textValue();
      case BOOLEAN -> node.booleanValue();
      case NULL -> null;
      case NUMBER -> number(path, node);
      case ARRAY -> array(path, node);
      case OBJECT -> special(path, node);
      default -> throw RefusedRow.property(path + ": " + node.getNodeType());
    };
  }

  private static Object number(String path, JsonNode node) throws RefusedRow {
    if (node.isIntegralNumber()) {
      if (node.canConvertToInt()) {
        return node.intValue();
      }
      if (node.canConvertToLong()) {
        return node.longValue();
      }
      throw RefusedRow.property(path + ": an integer beyond 64 bits");
    }
    double value = node.doubleValue();
    if (Double.isInfinite(value)) {
      throw RefusedRow.property(path + ": a number beyond 64 bits");
    }
    return value;
  }

  private static List<Object> array(String path, JsonNode node) throws RefusedRow {
    List<Object> values = new ArrayList<>(node.size());
    for (JsonNode element : node) {
      values.add(value(path + "[" + values.size() + "]", element));
    }
    return values;
  }

  private static Object special(String path, JsonNode node) throws RefusedRow {
    if (node.size() == 1 && node.has("$bytes")) {
      JsonNode text = node.get("$bytes");
      try {
        if (text.isTextual()) {
          return Base64.getDecoder().decode(text.textValue());
        }
      } catch (IllegalArgumentException e) {
        // said below
      }
      throw RefusedRow.property(path + ": $bytes is not base64 text");
    }
    if (node.size() == 1 && node.has("$timestamp")) {
      JsonNode seconds = node.get("$timestamp");
      long limit = Long.MAX_VALUE / 1000;
      if (!seconds.isIntegralNumber()
          || !seconds.canConvertToLong()
          || Math.abs(seconds.longValue()) > limit) {
        throw RefusedRow.property(path + ": $timestamp is not a number of seconds");
      }
      return new Date(seconds.longValue() * 1000);
    }
    return table(path, node);
  }
}
