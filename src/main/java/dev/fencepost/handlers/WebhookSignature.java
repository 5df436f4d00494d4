package dev.fencepost.handlers;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The signature of Standard Webhooks: HMAC-SHA256 over {@code id.timestamp.body}. */
final class WebhookSignature {
  private static final String PREFIX = "whsec_";
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  /**
   * @param secret {@code whsec_} and base64, or any text, whose UTF-8 bytes are the key
   */
  WebhookSignature(String secret) {
    byte[] bytes =
        secret.startsWith(PREFIX)
            ? Base64.getDecoder().decode(secret.substring(PREFIX.length()))
            : secret.getBytes(StandardCharsets.UTF_8);
    this.key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /** The value of {@code webhook-signature}. */
  String sign(String id, long epochSeconds, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((id + "." + epochSeconds + ".").getBytes(StandardCharsets.UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
