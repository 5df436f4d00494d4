package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RunEvent;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads id, type and ordering key of a message: basic properties first, then CloudEvents, then the
 * queue's default type. Never throws: what cannot be read is poison.
 */
final class MessageDecoder {
  /** The header that carries the ordering key (contract §2). */
  static final String KEY_HEADER = "fencepost-key";

  /** Longer ids do not fit the index that makes them unique. */
  static final int LONGEST_ID = 512;

  private final String consumer;
  private final @Nullable String defaultType;

  MessageDecoder(String consumer, @Nullable String defaultType) {
    this.consumer = consumer;
    this.defaultType = defaultType;
  }

  Decoded decode(Delivery.Envelope envelope) {
    try {
      return envelope.fault() == null
          ? read(envelope)
          : poison(envelope, null, null, "unreadable envelope: " + envelope.fault());
    } catch (UnreadableMessage e) {
      return poison(envelope, null, null, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      return poison(envelope, null, null, "unreadable message: " + e);
    }
  }

  private Decoded read(Delivery.Envelope envelope) {
    Map<String, Object> event = CloudEvents.attributes(envelope);
    String id = firstOf(envelope.property("message_id"), event.get("id"));
    String type = firstOf(envelope.property("type"), event.get("type"));
    if (type == null) {
      type = defaultType;
    }
    String key = key(envelope, event);
    if (id == null) {
      return poison(envelope, null, type, "the message has no id");
    }
    String fault = fault(id, type, key);
    if (fault != null || type == null) {
      return poison(envelope, id, type, fault == null ? "the message has no type" : fault);
    }
    return new Decoded.Event(id, type, key);
  }

  private static @Nullable String key(Delivery.Envelope envelope, Map<String, Object> event) {
    return firstOf(text(envelope.headers().get(KEY_HEADER)), event.get("partitionkey"));
  }

  /** The key of a stored message, whose row has it only where its order is kept. */
  static @Nullable String key(Delivery.Envelope envelope) {
    try {
      return key(envelope, CloudEvents.attributes(envelope));
    } catch (UnreadableMessage e) {
      return null;
    }
  }

  private static @Nullable String fault(String id, @Nullable String type, @Nullable String key) {
    if (!identifies(id)) {
      return "the message id cannot be stored";
    }
    if (type != null && !identifies(type)) {
      return "the message type cannot be stored";
    }
    return key == null || identifies(key) ? null : "the ordering key cannot be stored";
  }

  private Decoded.Poison poison(
      Delivery.Envelope envelope, @Nullable String id, @Nullable String type, String why) {
    String identity = id != null && identifies(id) ? id : PoisonIdentity.of(consumer, envelope);
    String storableType = type != null && identifies(type) ? type : null;
    return new Decoded.Poison(
        new ActivityId(consumer, identity),
        storableType,
        new ErrorInfo(RunEvent.MESSAGE_UNREADABLE.wire(), why, null));
  }

  /** Whether PostgreSQL can hold it as an indexed text: no NUL, no lone surrogate, not too long. */
  private static boolean identifies(String text) {
    if (text.length() > LONGEST_ID) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        return false;
      }
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!pair) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  private static @Nullable String firstOf(@Nullable String property, @Nullable Object attribute) {
    return property == null || property.isEmpty() ? text(attribute) : property;
  }

  private static @Nullable String text(@Nullable Object value) {
    if (value == null || value instanceof byte[]) {
      return null;
    }
    String text = value.toString();
    return text.isEmpty() ? null : text;
  }

  /** A message that says it is something and is not. */
  static final class UnreadableMessage extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnreadableMessage(String message) {
      super(message);
    }
  }
}
