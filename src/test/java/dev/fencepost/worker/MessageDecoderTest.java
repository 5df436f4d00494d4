package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.Delivery;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageDecoderTest {
  private final MessageDecoder decoder = new MessageDecoder("q", null);

  private static Delivery.Envelope message(
      Map<String, Object> properties, Map<String, Object> headers, String body) {
    return new Delivery.Envelope(
        "x", "k", properties, headers, body.getBytes(StandardCharsets.UTF_8), null);
  }

  @Test
  void readsBasicProperties() {
    Map<String, Object> properties = Map.of("message_id", "7", "type", "order.placed");
    assertThat(decoder.decode(message(properties, Map.of("fencepost-key", "o-7"), "{}")))
        .isEqualTo(new Decoded.Event("7", "order.placed", "o-7"));
  }

  @Test
  void aPlainMessageTakesTheDefaultType() {
    Delivery.Envelope plain = message(Map.of("message_id", "7"), Map.of(), "hello");
    assertThat(new MessageDecoder("q", "legacy").decode(plain))
        .isEqualTo(new Decoded.Event("7", "legacy", null));
    assertThat(decoder.decode(plain)).isInstanceOf(Decoded.Poison.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cloudEvents:", "cloudEvents_", "ce-"})
  void readsCloudEventsInBinaryMode(String prefix) {
    Map<String, Object> headers = new HashMap<>();
    headers.put(prefix + "specversion", "1.0");
    headers.put(prefix + "id", "ce-7");
    headers.put(prefix + "type", "com.example.placed");
    headers.put(prefix + "partitionkey", "o-7");
    assertThat(decoder.decode(message(Map.of(), headers, "{}")))
        .isEqualTo(new Decoded.Event("ce-7", "com.example.placed", "o-7"));
  }

  @Test
  void readsCloudEventsInStructuredMode() {
    Map<String, Object> properties =
        Map.of("content_type", "application/cloudevents+json; charset=utf-8");
    String body = "{\"specversion\":\"1.0\",\"id\":\"ce-8\",\"type\":\"placed\",\"data\":{}}";
    assertThat(decoder.decode(message(properties, Map.of(), body)))
        .isEqualTo(new Decoded.Event("ce-8", "placed", null));
  }

  @Test
  void theMessageIdIsTheIdEverywhere() {
    Map<String, Object> properties = Map.of("message_id", "7", "type", "t");
    Map<String, Object> headers = Map.of("ce-id", "other", "ce-type", "other");
    assertThat(decoder.decode(message(properties, headers, "")))
        .isEqualTo(new Decoded.Event("7", "t", null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[]", "7", "{\"id\":\"x\"}", "\u0000"})
  void aBrokenCloudEventIsPoison(String body) {
    Map<String, Object> properties = Map.of("content_type", "application/cloudevents+json");
    assertThat(decoder.decode(message(properties, Map.of(), body)))
        .isInstanceOf(Decoded.Poison.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\u0000b", "lone\ud800", "\udc00lone"})
  void anIdThatCannotBeStoredIsPoisonWithAnIdentityThatCan(String id) {
    Decoded decoded = decoder.decode(message(Map.of("message_id", id, "type", "t"), Map.of(), ""));
    assertThat(decoded)
        .isInstanceOfSatisfying(
            Decoded.Poison.class,
            poison -> assertThat(poison.identity().eventId()).matches("poison-[0-9a-f]{64}"));
  }

  @Test
  void anEnvelopeThatCouldNotBeReadIsPoison() {
    Delivery.Envelope faulty =
        new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[0], "header a: bad UTF-8");
    assertThat(decoder.decode(faulty))
        .isInstanceOfSatisfying(
            Decoded.Poison.class,
            poison -> assertThat(poison.error().message()).contains("bad UTF-8"));
  }

  @Test
  void theIdentityOfAMessageWithoutIdIsItsContent() {
    Decoded.Poison one = poison("q", message(Map.of("type", "t"), Map.of("h", 1), "body"));
    assertThat(poison("q", message(Map.of("type", "t"), Map.of("x-delivery-count", 3), "body")))
        .isEqualTo(one);
    assertThat(poison("q", message(Map.of("type", "t"), Map.of(), "other")).identity())
        .isNotEqualTo(one.identity());
    assertThat(poison("q", message(Map.of("type", "u"), Map.of(), "body")).identity())
        .isNotEqualTo(one.identity());
    assertThat(poison("r", message(Map.of("type", "t"), Map.of(), "body")).identity().eventId())
        .isNotEqualTo(one.identity().eventId());
  }

  private static Decoded.Poison poison(String consumer, Delivery.Envelope message) {
    return (Decoded.Poison) new MessageDecoder(consumer, null).decode(message);
  }
}
