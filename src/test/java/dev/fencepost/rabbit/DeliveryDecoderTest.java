package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import dev.fencepost.model.Delivery;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeliveryDecoderTest {

  @Test
  void headersOfAnyDepthAreReadAndTooDeepOnesAreAFault() {
    assertThat(decode(nested(DeliveryDecoder.MAX_DEPTH - 1)).envelope().fault()).isNull();

    Delivery.Envelope deep = decode(nested(3_000)).envelope();
    assertThat(deep.fault()).contains("nested deeper than " + DeliveryDecoder.MAX_DEPTH);
    assertThat(decode(Map.of("list", List.of(nested(200)))).envelope().fault()).isNotNull();
    assertThat(depth(deep.headers())).isEqualTo(DeliveryDecoder.MAX_DEPTH);
  }

  private static Map<String, Object> nested(int levels) {
    Map<String, Object> headers = Map.of("leaf", 1);
    for (int i = 1; i < levels; i++) {
      headers = Map.of("next", headers);
    }
    return headers;
  }

  private static int depth(Object value) {
    if (value instanceof Map<?, ?> map) {
      return 1 + map.values().stream().mapToInt(DeliveryDecoderTest::depth).max().orElse(0);
    }
    if (value instanceof List<?> list) {
      return 1 + list.stream().mapToInt(DeliveryDecoderTest::depth).max().orElse(0);
    }
    return 0;
  }

  private static Delivery decode(Map<String, Object> headers) {
    BasicProperties properties =
        new BasicProperties.Builder().messageId("e").headers(headers).build();
    return new DeliveryDecoder("q")
        .decode(1, new Envelope(1, false, "x", "r"), properties, new byte[0]);
  }
}
