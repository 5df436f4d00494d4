package dev.fencepost.operations;

import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A row of one of the contract's views, in the order of its columns.
 *
 * @param columns values are String, Long, Double, Boolean, Instant, byte[], JsonObject, JsonArray
 *     or null
 */
public record ViewRow(Map<String, @Nullable Object> columns) {

  public ViewRow {
    columns = Collections.unmodifiableMap(new LinkedHashMap<>(columns));
  }

  /** The value as text, or null. */
  public @Nullable String text(String column) {
    Object value = columns.get(column);
    return value == null ? null : value.toString();
  }

  /** The value as text; empty for null. */
  public String textOrEmpty(String column) {
    String value = text(column);
    return value == null ? "" : value;
  }

  /** The value as a number; 0 for null. */
  public long number(String column) {
    return columns.get(column) instanceof Number n ? n.longValue() : 0;
  }

  public @Nullable Instant instant(String column) {
    return columns.get(column) instanceof Instant i ? i : null;
  }

  /**
   * As JSON: instants in ISO-8601, bytes as text where they are UTF-8 and in base64 where they are
   * not, which {@code <column>_encoding} says.
   */
  public JsonObject toJson() {
    JsonObject json = new JsonObject();
    columns.forEach(
        (name, value) -> {
          if (value instanceof byte[] bytes) {
            String text = utf8(bytes);
            json.put(name, text == null ? Base64.getEncoder().encodeToString(bytes) : text);
            json.put(name + "_encoding", text == null ? "base64" : "utf-8");
          } else {
            json.put(name, value instanceof Instant i ? i.toString() : value);
          }
        });
    return json;
  }

  private static @Nullable String utf8(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException notText) {
      return null;
    }
  }
}
