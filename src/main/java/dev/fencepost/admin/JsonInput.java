package dev.fencepost.admin;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.Input;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request's body. Names are read in any of {@code dry_run}, {@code dry-run}, {@code
 * dryRun}; one that is not known is refused, or a misspelt {@code dry_run} would change things.
 */
final class JsonInput {
  private final JsonObject fields = new JsonObject();

  private JsonInput(JsonObject body, Set<String> allowed) {
    body.forEach(field -> put(field.getKey(), field.getValue(), allowed));
  }

  static JsonInput of(RoutingContext context, Set<String> allowed) {
    try {
      Object body = context.body().buffer() == null ? null : context.body().buffer().toJsonValue();
      if (body instanceof JsonObject object) {
        return new JsonInput(object, allowed);
      }
    } catch (DecodeException notJson) {
      // Said below.
    }
    throw new FencepostException(FailureKind.INVALID_INPUT, "body: is not a JSON object");
  }

  private void put(String given, @Nullable Object value, Set<String> allowed) {
    String name =
        given.replaceAll("([a-z])([A-Z])", "$1_$2").replace('-', '_').toLowerCase(Locale.ROOT);
    if (name.equals("filter") && value instanceof JsonObject nested && allowed.contains("ids")) {
      nested.forEach(field -> put(field.getKey(), field.getValue(), allowed));
    } else if (allowed.contains(name)) {
      fields.put(name, value);
    } else {
      throw new FencepostException(
          FailureKind.INVALID_INPUT,
          given
              + ": is not a field of this request; use "
              + String.join(", ", new TreeSet<>(allowed)));
    }
  }

  boolean has(String name) {
    return fields.getValue(name) != null;
  }

  @Nullable String text(String name) {
    Object value = fields.getValue(name);
    if (value == null || value instanceof String || value instanceof Number) {
      return value == null ? null : value.toString();
    }
    throw Input.refused(name, value.toString(), "text");
  }

  boolean flag(String name) {
    Object value = fields.getValue(name);
    if (value == null || value instanceof Boolean) {
      return value != null && (Boolean) value;
    }
    throw Input.refused(name, value.toString(), "true or false");
  }

  @Nullable Long number(String name, long min) {
    String text = text(name);
    return text == null || text.isEmpty() ? null : Input.number(name, text, min);
  }

  int number(String name, int min, int otherwise) {
    Long number = number(name, min);
    return number == null ? otherwise : (int) Math.min(number, Integer.MAX_VALUE);
  }

  List<Long> numbers(String name) {
    Object value = fields.getValue(name);
    List<Long> numbers = new ArrayList<>();
    if (value instanceof JsonArray array) {
      array.forEach(item -> numbers.add(Input.number(name, String.valueOf(item), 1)));
    } else if (value != null) {
      numbers.add(Input.number(name, value.toString(), 1));
    }
    return numbers;
  }
}
