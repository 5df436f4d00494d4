package dev.fencepost.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A row of the outbox as the relay publishes it. */
@SuppressWarnings("ArrayRecordComponent") // a message body, never compared
public record OutboxRow(
    Position at, Route route, String eventId, String type, @Nullable String key, Message message) {

  /** Where the row stands: the writer's transaction, its sequence number, its lane. */
  public record Position(long tx, long seq, int lane) {}

  public record Route(String exchange, String routingKey) {}

  /**
   * What is sent.
   *
   * @param headers JSON object as PostgreSQL wrote it; {@code {}} when there are none
   * @param properties JSON object of further basic properties; {@code {}} when there are none
   * @param written when the application wrote it, in whole seconds; null when that is not known
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Message(
      byte[] body,
      String contentType,
      String headers,
      String properties,
      @Nullable Instant written) {

    /** One of which it is not known when it was written. */
    public Message(byte[] body, String contentType, String headers, String properties) {
      this(body, contentType, headers, properties, null);
    }

    /** About what it takes in memory: bytes of the body, characters of the rest. */
    public long size() {
      return (long) body.length + headers.length() + properties.length();
    }
  }

  public long seq() {
    return at.seq();
  }
}
