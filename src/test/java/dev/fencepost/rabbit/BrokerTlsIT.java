package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.FailureKind;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.RabbitServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS with a broker that asks for a client's certificate. */
class BrokerTlsIT {

  @TempDir static Path folder;
  private static Certificates certificates;
  private static RabbitServer server;
  private static int port;

  @BeforeAll
  static void start() throws Exception {
    certificates = Certificates.in(folder);
    port = Ports.free();
    server =
        RabbitServer.start(
            Map.of(
                "listeners.ssl.1",
                "127.0.0.1:" + port,
                "ssl_options.cacertfile",
                certificates.certificate("ca").toString(),
                "ssl_options.certfile",
                certificates.certificate("server").toString(),
                "ssl_options.keyfile",
                certificates.key("server").toString(),
                "ssl_options.verify",
                "verify_peer",
                "ssl_options.fail_if_no_peer_cert",
                "true"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void logsInWithBothSidesVerified() {
    assertThat(login("127.0.0.1", trusted() + client())).isEqualTo("RabbitMQ");
  }

  /** The certificate speaks of broker.test and 127.0.0.1. */
  @Test
  void theNameToVerifyMayBeGiven() {
    String parameters = trusted() + client();
    assertThat(refusal("localhost", parameters)).hasMessageContaining("localhost");
    assertThat(login("localhost", parameters + "&server_name_indication=broker.test"))
        .isEqualTo("RabbitMQ");
    assertThat(refusal("localhost", parameters + "&server_name_indication=other.test"))
        .hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_UNREACHABLE);
  }

  @Test
  void anUnknownAuthorityIsRefusedUnlessToldOtherwise() {
    assertThat(refusal("127.0.0.1", client()))
        .hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_UNREACHABLE)
        .hasMessageContaining("certification path");
    assertThat(login("127.0.0.1", client() + "&verify=verify_none")).isEqualTo("RabbitMQ");
  }

  @Test
  void aBrokerThatAsksForACertificateRefusesUsWithoutOne() {
    assertThat(refusal("127.0.0.1", trusted()))
        .hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_UNREACHABLE);
  }

  @Test
  void anUnreadableFileIsAFaultOfTheConfiguration() {
    assertThat(refusal("127.0.0.1", "&cacertfile=/nowhere.pem"))
        .hasFieldOrPropertyWithValue("kind", FailureKind.CONFIGURATION)
        .hasMessageContaining("nowhere.pem");
  }

  private static String trusted() {
    return "&cacertfile=" + certificates.certificate("ca");
  }

  private static String client() {
    return "&certfile="
        + certificates.certificate("client")
        + "&keyfile="
        + certificates.key("client");
  }

  private static String login(String host, String parameters) {
    try (ConsumeHarness harness = new ConsumeHarness(uri(host, parameters))) {
      BrokerAdmin admin = harness.broker.admin();
      return Await.result(harness.onContext(admin::identity)).product();
    }
  }

  private static Throwable refusal(String host, String parameters) {
    try (ConsumeHarness harness = new ConsumeHarness(uri(host, parameters))) {
      BrokerAdmin admin = harness.broker.admin();
      return Await.failure(harness.onContext(admin::identity));
    }
  }

  private static String uri(String host, String parameters) {
    return "amqps://guest:guest@" + host + ":" + port + "/?heartbeat=10" + parameters;
  }
}
