package dev.fencepost.worker;

import dev.fencepost.model.Delivery;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Finds the attributes of a CloudEvent: in headers (binary mode, with the prefix of the AMQP
 * binding or the one that HTTP bridges leave) or in the body (structured mode). The body is left as
 * it is in both.
 */
final class CloudEvents {
  private static final String STRUCTURED = "application/cloudevents+json";
  private static final String BATCH = "application/cloudevents-batch";
  private static final List<String> PREFIXES = List.of("cloudEvents:", "cloudEvents_", "ce-");

  private CloudEvents() {}

  /**
   * Attributes by their CloudEvents name; empty when it is none.
   *
   * @throws MessageDecoder.UnreadableMessage when it says it is one and cannot be read
   */
  static Map<String, Object> attributes(Delivery.Envelope envelope) {
    String contentType = envelope.property("content_type");
    if (contentType != null) {
      String lower = contentType.trim().toLowerCase(Locale.ROOT);
      if (lower.startsWith(STRUCTURED)) {
        return structured(envelope.body());
      }
      if (lower.startsWith(BATCH)) {
        throw new MessageDecoder.UnreadableMessage("a batch of CloudEvents is not one event");
      }
    }
    return binary(envelope.headers());
  }

  private static Map<String, Object> structured(byte[] body) {
    try {
      JsonObject event = new JsonObject(Buffer.buffer(body));
      if (event.getValue("specversion") == null) {
        throw new MessageDecoder.UnreadableMessage("the CloudEvent has no specversion");
      }
      return event.getMap();
    } catch (DecodeException | ClassCastException e) {
      throw new MessageDecoder.UnreadableMessage("the body is no CloudEvent: " + e.getMessage());
    }
  }

  private static Map<String, Object> binary(Map<String, Object> headers) {
    Map<String, Object> attributes = Map.of();
    for (Map.Entry<String, Object> header : headers.entrySet()) {
      for (String prefix : PREFIXES) {
        if (header.getKey().startsWith(prefix)) {
          if (attributes.isEmpty()) {
            attributes = new HashMap<>();
          }
          attributes.put(header.getKey().substring(prefix.length()), header.getValue());
        }
      }
    }
    return attributes;
  }
}
