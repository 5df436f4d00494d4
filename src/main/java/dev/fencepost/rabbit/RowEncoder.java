package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.impl.Frame;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.io.UnsupportedEncodingException;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;

/**
 * Outbox rows to messages. Whatever a broker would answer by closing the channel or connection is
 * refused here, before anything of the row is written.
 */
final class RowEncoder {

  static final String KEY_HEADER = "fencepost-key";

  private static final int PERSISTENT = 2;

  /** Frame header and end, class, weight, body size, property flags, mode, time, table length. */
  private static final int FIXED_BYTES = 8 + 2 + 2 + 8 + 2 + 1 + 8 + 4;

  private final long maxMessageSize;
  private final long frameMax;

  /**
   * @param maxMessageSize of a body, in bytes
   * @param frameMax as negotiated; 0 for no limit
   */
  RowEncoder(long maxMessageSize, long frameMax) {
    this.maxMessageSize = maxMessageSize;
    this.frameMax = frameMax == 0 ? Long.MAX_VALUE : frameMax;
  }

  /**
   * @throws RefusedRow also for what we cannot encode for a reason that we do not know: any other
   *     answer would have the row read again for ever
   */
  Outgoing encode(OutboxRow row) throws RefusedRow {
    try {
      return encoded(row);
    } catch (RuntimeException | StackOverflowError e) {
      throw RefusedRow.property("cannot be encoded: " + e);
    }
  }

  private Outgoing encoded(OutboxRow row) throws RefusedRow {
    OutboxRow.Message message = row.message();
    if (message.body().length > maxMessageSize) {
      throw new RefusedRow(
          ParkedReason.TOO_LARGE,
          "body of "
              + message.body().length
              + " bytes is above relay.max-message-size "
              + maxMessageSize);
    }
    ShortStrings.check("exchange", row.route().exchange());
    ShortStrings.check("routing_key", row.route().routingKey());
    BasicProperties.Builder properties =
        new BasicProperties.Builder()
            .deliveryMode(PERSISTENT)
            .messageId(row.eventId())
            .type(row.type())
            .contentType(message.contentType());
    if (message.written() != null) {
      properties.timestamp(Date.from(message.written()));
    }
    int size =
        FIXED_BYTES
            + ShortStrings.check("event_id", row.eventId())
            + ShortStrings.check("type", row.type())
            + ShortStrings.check("content_type", message.contentType());
    if (!message.properties().equals("{}")) {
      size += PropertyJson.apply(message.properties(), properties);
    }
    Map<String, Object> headers = headers(row);
    if (!headers.isEmpty()) {
      properties.headers(headers);
      checkFrame(size + tableSize(headers));
    }
    return new Outgoing(
        row.seq(), row.eventId(), row.route(), properties.build(), message.body(), true);
  }

  private static Map<String, Object> headers(OutboxRow row) throws RefusedRow {
    String text = row.message().headers();
    String key = row.key();
    if (text.equals("{}")) {
      return key == null ? Map.of() : Map.of(KEY_HEADER, key);
    }
    Map<String, Object> headers = new HashMap<>(HeaderJson.headers(text));
    if (key != null) {
      headers.put(KEY_HEADER, key);
    }
    return headers;
  }

  private void checkFrame(long size) throws RefusedRow {
    if (size > frameMax) {
      throw RefusedRow.property(
          "headers and properties of "
              + size
              + " bytes do not fit the broker's frame of "
              + frameMax);
    }
  }

  private static long tableSize(Map<String, Object> headers) {
    try {
      return Frame.tableSize(headers);
    } catch (UnsupportedEncodingException e) {
      throw new IllegalStateException(e); // UTF-8 is always there
    }
  }
}
