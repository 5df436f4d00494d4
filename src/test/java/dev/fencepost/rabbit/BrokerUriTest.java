package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.FailureKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerUriTest {

  @ParameterizedTest
  @CsvSource({
    "amqp://localhost, localhost, 5672, guest, guest, /",
    "amqp://guest:guest@localhost:5672/, localhost, 5672, guest, guest, /",
    "amqp://a:b@h/%2F, h, 5672, a, b, /",
    "amqp://a:p%40ss%2F%25+@h:1/v%2Fx, h, 1, a, p@ss/%+, v/x",
    "amqps://a:b@my_broker/prod, my_broker, 5671, a, b, prod",
    "amqp://a:b@[::1]:7/v, ::1, 7, a, b, v",
    "amqp://a@h, h, 5672, a, '', /",
  })
  void reads(String text, String host, int port, String user, String password, String vhost) {
    BrokerUri uri = BrokerUri.parse(text);
    assertThat(uri.endpoint()).isEqualTo(new BrokerUri.Endpoint(host, port));
    assertThat(uri.login()).isEqualTo(new BrokerUri.Login(user, password, vhost));
    assertThat(uri.tls()).isEqualTo(text.startsWith("amqps"));
  }

  @Test
  void readsParameters() {
    BrokerUri uri =
        BrokerUri.parse("amqps://h?heartbeat=5&cacertfile=/a%20b.pem&verify=verify_none");
    assertThat(uri.parameter("heartbeat", 10)).isEqualTo(5);
    assertThat(uri.parameter("connection_timeout", 7)).isEqualTo(7);
    assertThat(uri.parameter("cacertfile")).isEqualTo("/a b.pem");
    assertThat(BrokerTls.verified(uri)).isFalse();
    assertThat(BrokerTls.verified(BrokerUri.parse("amqps://h"))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://u:secret@h",
        "amqp://u:secret@h:99999",
        "amqp://u:secret@h/a/b",
        "amqp://u:secret@h?verfy=verify_peer",
        "amqp://u:secret@h?verify=maybe",
        "amqp://u:secret@h?heartbeat=x",
        "amqp://u:secret@h/%zz",
        "amqp://u:secret @h",
      })
  void refusesWithoutShowingThePassword(String text) {
    assertThatThrownBy(() -> BrokerUri.parse(text))
        .hasFieldOrPropertyWithValue("kind", FailureKind.CONFIGURATION)
        .hasMessageNotContaining("secret");
  }

  @Test
  void neverShowsThePassword() {
    assertThat(BrokerUri.parse("amqp://u:secret@h").toString()).doesNotContain("secret");
  }
}
