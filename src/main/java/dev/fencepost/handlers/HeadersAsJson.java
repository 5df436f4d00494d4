package dev.fencepost.handlers;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Typed AMQP headers as JSON, the form that the outbox takes: {@code {"$bytes": base64}} and {@code
 * {"$timestamp": epoch seconds}} for what JSON lacks.
 */
final class HeadersAsJson {
  private static final int MILLIS = 1_000;

  private HeadersAsJson() {}

  static String of(Map<String, Object> headers) {
    return object(headers).encode();
  }

  private static JsonObject object(Map<?, ?> table) {
    JsonObject object = new JsonObject();
    table.forEach((name, value) -> object.put(String.valueOf(name), value(value)));
    return object;
  }

  private static @Nullable Object value(@Nullable Object value) {
    if (value == null || value instanceof Boolean || value instanceof String) {
      return value;
    }
    if (value instanceof Number number) {
      double d = number.doubleValue();
      return Double.isFinite(d) ? number : String.valueOf(d);
    }
    if (value instanceof byte[] bytes) {
      return new JsonObject().put("$bytes", Base64.getEncoder().encodeToString(bytes));
    }
    if (value instanceof Date date) {
      return new JsonObject().put("$timestamp", Math.floorDiv(date.getTime(), MILLIS));
    }
    if (value instanceof Map<?, ?> table) {
      return object(table);
    }
    if (value instanceof List<?> list) {
      JsonArray array = new JsonArray();
      list.forEach(one -> array.add(value(one)));
      return array;
    }
    return value.toString();
  }
}
