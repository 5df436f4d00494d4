package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.fencepost.model.OutboxRow;

/** A message ready to be written; {@code id} is what its verdict is reported by. */
final class Outgoing {

  final long id;
  final String messageId;
  final OutboxRow.Route route;
  final BasicProperties properties;
  final byte[] body;

  /** Whether the broker must say when it can route the message nowhere. */
  final boolean mandatory;

  /** When the writer wrote it, or 0 when it has not yet. */
  volatile long writtenAt;

  Outgoing(
      long id,
      String messageId,
      OutboxRow.Route route,
      BasicProperties properties,
      byte[] body,
      boolean mandatory) {
    this.id = id;
    this.messageId = messageId;
    this.route = route;
    this.properties = properties;
    this.body = body;
    this.mandatory = mandatory;
  }
}
