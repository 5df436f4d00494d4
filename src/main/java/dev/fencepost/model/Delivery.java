package dev.fencepost.model;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as the broker delivered it, before anything of it has been read.
 *
 * @param queue the consumer's name in the configuration (not the AMQP queue)
 * @param tag what it is acknowledged by, on the channel that delivered it only
 * @param redelivered the broker's flag; {@code deliveries} is its count where it keeps one, or 0
 */
public record Delivery(
    String queue, Tag tag, boolean redelivered, long deliveries, Envelope envelope) {

  /** A delivery tag means something within one channel epoch only. */
  public record Tag(long epoch, long number) {}

  /**
   * The message itself, kept byte for byte for dead letters.
   *
   * @param headers decoded AMQP headers (String, Long, Integer, Boolean, Double, byte[], Date, Map,
   *     List, null…); values that cannot be decoded are handled by {@code fault}
   * @param properties basic properties by their AMQP name (message_id, type, content_type, …)
   * @param fault why the envelope could not be read, null when it could
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Envelope(
      String exchange,
      String routingKey,
      Map<String, Object> properties,
      Map<String, Object> headers,
      byte[] body,
      @Nullable String fault) {

    /** A basic property as text, or null when it is absent. */
    public @Nullable String property(String name) {
      Object value = properties.get(name);
      return value == null ? null : value.toString();
    }
  }
}
