package dev.fencepost.pg;

import dev.fencepost.model.JsonDouble;
import dev.fencepost.model.StorableText;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * AMQP headers and properties as jsonb, and back: the outbox's own form ({@code $bytes}, {@code
 * $timestamp}), with more for what jsonb would refuse or change: text with NUL or half a surrogate
 * pair ({@code $utf16}), decimals ({@code $decimal}), doubles that jsonb would print as integers
 * ({@code $double}), and maps whose names are such text or look like these ({@code $entries}).
 */
final class AmqpJson {
  private AmqpJson() {}

  /** Never fails on what a message holds. */
  static String encode(Map<String, Object> table) {
    return map(table).encode();
  }

  private static @Nullable Object value(@Nullable Object value) {
    if (value == null || value instanceof Boolean) {
      return value;
    }
    if (value instanceof String text) {
      return text(text);
    }
    if (value instanceof Number number) {
      return number(number);
    }
    if (value instanceof byte[] bytes) {
      return tagged("$bytes", Base64.getEncoder().encodeToString(bytes));
    }
    if (value instanceof Date date) {
      return tagged("$timestamp", Math.floorDiv(date.getTime(), 1000L));
    }
    if (value instanceof Map<?, ?> map) {
      return map(map);
    }
    if (value instanceof List<?> list) {
      JsonArray array = new JsonArray();
      list.forEach(each -> array.add(value(each)));
      return array;
    }
    return text(value.toString());
  }

  private static Object text(String text) {
    return storable(text)
        ? text
        : tagged("$utf16", Base64.getEncoder().encodeToString(units(text)));
  }

  /** Unit by unit: a charset would replace half a pair. */
  private static byte[] units(String text) {
    ByteBuffer bytes = ByteBuffer.allocate(text.length() * 2);
    bytes.asCharBuffer().put(text);
    return bytes.array();
  }

  private static boolean storable(String text) {
    return StorableText.of(text, Integer.MAX_VALUE).equals(text);
  }

  private static Object number(Number number) {
    if (number instanceof BigDecimal) {
      return tagged("$decimal", number.toString());
    }
    if (number instanceof Double || number instanceof Float) {
      double d = number.doubleValue();
      return JsonDouble.kept(d) ? (Object) d : tagged("$double", Double.toString(d));
    }
    return number.longValue();
  }

  private static JsonObject map(Map<?, ?> map) {
    boolean plain =
        map.keySet().stream().map(String::valueOf).allMatch(AmqpJson::storable)
            && !(map.size() == 1 && map.keySet().iterator().next().toString().startsWith("$"));
    if (plain) {
      JsonObject object = new JsonObject();
      map.forEach((name, each) -> object.put(String.valueOf(name), value(each)));
      return object;
    }
    JsonArray entries = new JsonArray();
    map.forEach(
        (name, each) -> entries.add(new JsonArray().add(text(name.toString())).add(value(each))));
    return tagged("$entries", entries);
  }

  private static JsonObject tagged(String tag, Object value) {
    return new JsonObject().put(tag, value);
  }

  /** What {@link #encode} wrote. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> decode(@Nullable JsonObject object) {
    return object == null ? Map.of() : (Map<String, Object>) read(object);
  }

  @SuppressWarnings("NullAway") // AMQP's void is null
  private static Object read(@Nullable Object value) {
    if (value instanceof JsonObject object) {
      return object.size() == 1 ? special(object) : table(object);
    }
    if (value instanceof JsonArray array) {
      List<Object> list = new ArrayList<>(array.size());
      array.forEach(each -> list.add(read(each)));
      return list;
    }
    if (value instanceof Long number && number.intValue() == number) {
      return number.intValue();
    }
    return value;
  }

  private static Object table(JsonObject object) {
    Map<String, Object> map = new LinkedHashMap<>();
    object.forEach(entry -> map.put(entry.getKey(), read(entry.getValue())));
    return map;
  }

  private static Object special(JsonObject object) {
    Map.Entry<String, Object> only = object.iterator().next();
    Object value = only.getValue();
    return switch (only.getKey()) {
      case "$bytes" -> Base64.getDecoder().decode((String) value);
      case "$timestamp" -> new Date(((Number) value).longValue() * 1000);
      case "$utf16" -> utf16((String) value);
      case "$decimal" -> new BigDecimal((String) value);
      case "$double" -> Double.valueOf((String) value);
      case "$entries" -> entries((JsonArray) value);
      default -> table(object);
    };
  }

  private static String utf16(String base64) {
    return ByteBuffer.wrap(Base64.getDecoder().decode(base64)).asCharBuffer().toString();
  }

  private static Map<String, Object> entries(JsonArray entries) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Object entry : entries) {
      JsonArray pair = (JsonArray) entry;
      map.put((String) read(pair.getValue(0)), read(pair.getValue(1)));
    }
    return map;
  }
}
