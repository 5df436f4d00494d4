package dev.fencepost.operations;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** The key of the last row of a page, opaque to those who carry it. */
public final class Cursor {
  private Cursor() {}

  public static String of(Object... key) {
    JsonArray array = new JsonArray();
    for (Object part : key) {
      array.add(part);
    }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(array.toBuffer().getBytes());
  }

  /**
   * The key within a cursor, or null without one.
   *
   * @throws dev.fencepost.model.FencepostException INVALID_INPUT when it is not one of ours
   */
  public static @Nullable JsonArray read(@Nullable String cursor, int parts) {
    if (cursor == null || cursor.isEmpty()) {
      return null;
    }
    try {
      JsonArray key = new JsonArray(Buffer.buffer(Base64.getUrlDecoder().decode(cursor)));
      if (key.size() == parts) {
        return key;
      }
    } catch (IllegalArgumentException | DecodeException notOurs) {
      // Said below.
    }
    throw Input.refused("after", cursor, "the \"next\" of an earlier page");
  }

  /** A numeric part of a cursor. */
  public static long number(JsonArray key, int index) {
    if (key.getValue(index) instanceof Number n) {
      return n.longValue();
    }
    throw Input.refused("after", key.encode(), "the \"next\" of an earlier page");
  }

  /** A part of a cursor that is a point in time. */
  public static Instant time(JsonArray key, int index) {
    try {
      Instant time = Instant.parse(text(key, index));
      if (Input.storable(time)) {
        return time;
      }
    } catch (DateTimeParseException notOurs) {
      // Said below.
    }
    throw Input.refused("after", key.encode(), "the \"next\" of an earlier page");
  }

  /** A textual part of a cursor. */
  public static String text(JsonArray key, int index) {
    if (key.getValue(index) instanceof String s) {
      return Input.storable("after", s);
    }
    throw Input.refused("after", key.encode(), "the \"next\" of an earlier page");
  }
}
