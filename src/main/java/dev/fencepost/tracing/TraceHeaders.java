package dev.fencepost.tracing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code traceparent} and {@code tracestate} among the headers of rows and messages (W3C). */
final class TraceHeaders {

  private static final W3CTraceContextPropagator W3C = W3CTraceContextPropagator.getInstance();

  /** Numbers of the other headers stay as PostgreSQL wrote them. */
  private static final JsonMapper EXACT =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private TraceHeaders() {}

  /** A row's headers; null when they are no object, which the encoder refuses. */
  static @Nullable ObjectNode parse(String headers) {
    try {
      return EXACT.readTree(headers) instanceof ObjectNode object ? object : null;
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  static Context parent(ObjectNode headers) {
    return W3C.extract(Context.root(), headers, new OfRow());
  }

  static Context parent(Map<String, Object> headers) {
    return W3C.extract(Context.root(), headers, new OfMessage());
  }

  static String with(ObjectNode headers, Context span) {
    W3C.inject(span, headers, (into, name, value) -> into.put(name, value));
    return headers.toString();
  }

  static Map<String, Object> with(Map<String, Object> headers, Context span) {
    Map<String, Object> copy = new HashMap<>(headers);
    W3C.inject(span, copy, (into, name, value) -> into.put(name, value));
    return copy;
  }

  private static final class OfRow implements TextMapGetter<ObjectNode> {
    @Override
    public Iterable<String> keys(ObjectNode headers) {
      return headers::fieldNames;
    }

    @Override
    public @Nullable String get(@Nullable ObjectNode headers, String name) {
      JsonNode value = headers == null ? null : headers.get(name);
      return value == null || !value.isTextual() ? null : value.textValue();
    }
  }

  private static final class OfMessage implements TextMapGetter<Map<String, Object>> {
    @Override
    public Iterable<String> keys(Map<String, Object> headers) {
      return headers.keySet();
    }

    @Override
    public @Nullable String get(@Nullable Map<String, Object> headers, String name) {
      Object value = headers == null ? null : headers.get(name);
      return value == null ? null : value.toString();
    }
  }
}
