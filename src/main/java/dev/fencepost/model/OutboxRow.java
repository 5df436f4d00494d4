package dev.fencepost.model;

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
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Message(byte[] body, String contentType, String headers, String properties) {}

  public long seq() {
    return at.seq();
  }
}
