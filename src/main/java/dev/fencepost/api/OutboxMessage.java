package dev.fencepost.api;

import dev.fencepost.model.JsonDouble;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event to be published by the relay once the transaction that wrote it has committed.
 * Immutable.
 *
 * <pre>{@code
 * OutboxMessage.to("orders", "order.placed", "order.placed")
 *     .key("order-7")
 *     .json(new JsonObject().put("id", 7))
 *     .header("tenant", "acme")
 *     .build();
 * }</pre>
 */
public final class OutboxMessage {
  private final Builder from;
  private final String eventId;

  private OutboxMessage(Builder from) {
    this.from = from;
    this.eventId = from.eventId == null ? UUID.randomUUID().toString() : from.eventId;
  }

  /**
   * Begins a message.
   *
   * @param exchange where it is published; empty for the default exchange
   * @param routingKey with the default exchange, the queue's name
   * @param type what happened, such as {@code order.placed}; the worker's activity type
   * @throws NullPointerException when one of them is null
   */
  public static Builder to(String exchange, String routingKey, String type) {
    return new Builder(exchange, routingKey, type);
  }

  public String exchange() {
    return from.exchange;
  }

  public String routingKey() {
    return from.routingKey;
  }

  public String type() {
    return from.type;
  }

  /** The event's id everywhere; a random UUID where none was given. */
  public String eventId() {
    return eventId;
  }

  /** The ordering key, or null. */
  public @Nullable String key() {
    return from.key;
  }

  /** The body, byte for byte; a copy. */
  public byte[] body() {
    return from.body.clone();
  }

  public String contentType() {
    return from.contentType;
  }

  /** Headers as the outbox stores them; a copy. */
  public JsonObject headers() {
    return from.headers.copy();
  }

  /** Further basic properties as the outbox stores them; a copy. */
  public JsonObject properties() {
    return from.properties.copy();
  }

  /** When it is to be published at the earliest, or null for as soon as it is committed. */
  public @Nullable Instant deliverAt() {
    return from.deliverAt;
  }

  /** Collects a message; not safe for several threads. */
  public static final class Builder {
    private final String exchange;
    private final String routingKey;
    private final String type;
    private final JsonObject headers;
    private final JsonObject properties;
    private @Nullable String eventId;
    private @Nullable String key;
    private byte[] body = new byte[0];
    private String contentType = "application/json";
    private @Nullable Instant deliverAt;

    private Builder(String exchange, String routingKey, String type) {
      this.exchange = Objects.requireNonNull(exchange, "exchange");
      this.routingKey = Objects.requireNonNull(routingKey, "routingKey");
      this.type = Objects.requireNonNull(type, "type");
      this.headers = new JsonObject();
      this.properties = new JsonObject();
    }

    private Builder(Builder other) {
      this.exchange = other.exchange;
      this.routingKey = other.routingKey;
      this.type = other.type;
      this.headers = other.headers.copy();
      this.properties = other.properties.copy();
      this.eventId = other.eventId;
      this.key = other.key;
      this.body = other.body;
      this.contentType = other.contentType;
      this.deliverAt = other.deliverAt;
    }

    /**
     * Events of one key are published in the order written, as long as those who write them exclude
     * each other: lock the aggregate first.
     */
    public Builder key(@Nullable String key) {
      this.key = key;
      return this;
    }

    /**
     * The event's own id, where it has one. A second event with the same id is a duplicate to the
     * worker.
     */
    public Builder eventId(@Nullable String eventId) {
      this.eventId = eventId;
      return this;
    }

    /** The body, as it is; set {@link #contentType} too when it is no JSON. */
    public Builder body(byte[] body) {
      this.body = body.clone();
      return this;
    }

    /** A text body, in UTF-8. */
    public Builder body(String body) {
      this.body = body.getBytes(StandardCharsets.UTF_8);
      return this;
    }

    /** A JSON body. */
    public Builder json(JsonObject body) {
      this.body = body.toBuffer().getBytes();
      return this;
    }

    /** Default {@code application/json}. */
    public Builder contentType(String contentType) {
      this.contentType = Objects.requireNonNull(contentType, "contentType");
      return this;
    }

    /**
     * An AMQP header. Types are kept: null, {@link Boolean}, whole numbers, other numbers, {@link
     * String}, {@code byte[]}, {@link Instant} (to the second), {@link Map} and {@link List} of
     * these.
     *
     * @throws IllegalArgumentException for any other type, and for a number that is infinite or
     *     none
     */
    public Builder header(String name, @Nullable Object value) {
      headers.put(name, json(value));
      return this;
    }

    /**
     * A basic property by its AMQP name: correlation_id, reply_to, expiration, priority, user_id,
     * app_id, content_encoding.
     *
     * @throws IllegalArgumentException as {@link #header}
     */
    public Builder property(String name, Object value) {
      properties.put(name, json(value));
      return this;
    }

    /**
     * Publishes it not before this time, by the database's clock. Such an event has no fixed place
     * among others of its key.
     */
    public Builder deliverAt(@Nullable Instant deliverAt) {
      this.deliverAt = deliverAt;
      return this;
    }

    /** The message. The builder may be used on. */
    public OutboxMessage build() {
      return new OutboxMessage(new Builder(this));
    }

    private static @Nullable Object json(@Nullable Object value) {
      if (value == null || value instanceof Boolean || value instanceof String) {
        return value;
      }
      if (value instanceof Number number) {
        boolean floating = number instanceof Double || number instanceof Float;
        return floating ? JsonDouble.pointed(number) : number;
      }
      if (value instanceof byte[] bytes) {
        return new JsonObject().put("$bytes", Base64.getEncoder().encodeToString(bytes));
      }
      if (value instanceof Instant time) {
        return new JsonObject().put("$timestamp", time.getEpochSecond());
      }
      if (value instanceof Map<?, ?> map) {
        JsonObject object = new JsonObject();
        map.forEach((name, each) -> object.put(String.valueOf(name), json(each)));
        return object;
      }
      if (value instanceof List<?> list) {
        JsonArray array = new JsonArray();
        list.forEach(each -> array.add(json(each)));
        return array;
      }
      throw new IllegalArgumentException("no AMQP header value: " + value.getClass().getName());
    }
  }
}
