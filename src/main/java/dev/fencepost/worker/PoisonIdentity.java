package dev.fencepost.worker;

import dev.fencepost.model.Delivery;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/**
 * The identity of a message that has none: a digest of queue, properties and body, so that its
 * redelivery makes no second dead letter. Headers stay out: brokers add counters to them.
 */
final class PoisonIdentity {
  private PoisonIdentity() {}

  static String of(String consumer, Delivery.Envelope envelope) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      add(digest, consumer.getBytes(StandardCharsets.UTF_8));
      for (Map.Entry<String, Object> property : new TreeMap<>(envelope.properties()).entrySet()) {
        add(digest, property.getKey().getBytes(StandardCharsets.UTF_8));
        Object value = property.getValue();
        add(
            digest,
            value instanceof byte[] bytes
                ? bytes
                : String.valueOf(value).getBytes(StandardCharsets.UTF_8));
      }
      add(digest, envelope.body());
      return "poison-" + HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** With its length in front: "ab" + "c" is not "a" + "bc". */
  private static void add(MessageDigest digest, byte[] part) {
    digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
    digest.update(part);
  }
}
