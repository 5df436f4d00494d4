package dev.fencepost.pg;

import dev.fencepost.model.Delivery;
import dev.fencepost.model.StorableText;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A message in the columns exchange, routing_key, headers, properties, body. */
record StoredMessage(
    String exchange, String routingKey, String headers, String properties, Buffer body) {
  private static final int NAME_BYTES = 1024;

  static @Nullable StoredMessage of(Delivery.@Nullable Envelope envelope) {
    return envelope == null
        ? null
        : new StoredMessage(
            StorableText.of(envelope.exchange(), NAME_BYTES),
            StorableText.of(envelope.routingKey(), NAME_BYTES),
            AmqpJson.encode(envelope.headers()),
            AmqpJson.encode(envelope.properties()),
            Buffer.buffer(envelope.body()));
  }

  /** Adds five arrays, one element per item; all null where an item has no message. */
  static <T> void columns(
      Tuple to, List<T> items, Function<T, Delivery.@Nullable Envelope> envelope) {
    int n = items.size();
    String[] exchanges = new String[n];
    String[] keys = new String[n];
    String[] headers = new String[n];
    String[] properties = new String[n];
    Buffer[] bodies = new Buffer[n];
    for (int i = 0; i < n; i++) {
      StoredMessage message = of(envelope.apply(items.get(i)));
      if (message != null) {
        exchanges[i] = message.exchange;
        keys[i] = message.routingKey;
        headers[i] = message.headers;
        properties[i] = message.properties;
        bodies[i] = message.body;
      }
    }
    to.addValue(exchanges).addValue(keys).addValue(headers).addValue(properties).addValue(bodies);
  }

  /** The message of a row that has these columns, or null when it has no body. */
  static Delivery.@Nullable Envelope envelope(Row row) {
    Buffer body = row.getBuffer("body");
    return body == null
        ? null
        : new Delivery.Envelope(
            text(row, "exchange"),
            text(row, "routing_key"),
            AmqpJson.decode((JsonObject) row.getValue("properties")),
            AmqpJson.decode((JsonObject) row.getValue("headers")),
            body.getBytes(),
            null);
  }

  /** The message of a row that is known to have its body. */
  static Delivery.Envelope required(Row row) {
    Delivery.Envelope envelope = envelope(row);
    if (envelope == null) {
      throw new IllegalStateException("no body of " + ActivityRows.id(row));
    }
    return envelope;
  }

  private static String text(Row row, String column) {
    String value = row.getString(column);
    return value == null ? "" : value;
  }
}
