package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.LongString;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.rabbit.PublishHarness.Told;
import dev.fencepost.relay.Publisher.PublishChannel;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RabbitPublisherIT {

  private String uri;
  private PublishHarness harness;
  private Plain plain;
  private final Told told = new Told();

  @BeforeEach
  void start() {
    uri = TestServers.broker().newVhost();
    harness = new PublishHarness(uri);
    plain = new Plain(uri);
  }

  @AfterEach
  void stop() throws Exception {
    plain.close();
    harness.close();
  }

  @Test
  void confirmsEachRowOnceAndInOrder() throws Exception {
    plain.queue("load", Map.of("x-queue-type", "quorum"));
    PublishChannel channel = harness.open("lane-0", told);
    for (int i = 0; i < 10; i++) {
      harness.publish(channel, harness.rows(500, "load"));
    }
    told.awaitVerdicts(5000);
    assertThat(told.verdicts.values()).allMatch(v -> v.refusal() == null);
    assertThat(told.repeated).hasValue(0);
    assertThat(told.thread.getName()).contains("eventloop");
    for (int i = 1; i <= 5000; i++) {
      GetResponse got = plain.get("load");
      assertThat(got.getProps().getMessageId()).isEqualTo("event-" + i);
    }
  }

  @Test
  void sendsTypedHeadersAndEveryProperty() throws Exception {
    plain.queue("typed", Map.of());
    PublishChannel channel = harness.open("lane-0", told);
    byte[] body = {0, 1, -1, 'x'};
    OutboxRow row =
        harness.row(
            "",
            "typed",
            body,
            """
            {"text":"ü","int":7,"long":5000000000,"decimal":1.5,"yes":true,"none":null,
             "bytes":{"$bytes":"AAH/"},"at":{"$timestamp":1700000000},
             "object":{"a":[1,"b",null]}}""",
            """
            {"correlation_id":"c","reply_to":"r","expiration":"60000","priority":3,
             "user_id":"guest","app_id":"a","content_encoding":"utf-8"}""");
    harness.publish(channel, List.of(row));
    told.awaitVerdicts(1);
    GetResponse got = plain.get("typed");
    assertThat(got.getBody()).isEqualTo(body);
    Map<String, Object> headers = got.getProps().getHeaders();
    assertThat(headers.get("text")).isInstanceOf(LongString.class).hasToString("ü");
    assertThat(headers)
        .containsEntry("int", 7)
        .containsEntry("long", 5_000_000_000L)
        .containsEntry("decimal", 1.5)
        .containsEntry("yes", true)
        .containsEntry("none", null)
        .containsEntry("at", new Date(1_700_000_000_000L));
    assertThat((byte[]) headers.get("bytes")).containsExactly(0, 1, -1);
    assertThat(headers.get("object").toString()).isEqualTo("{a=[1, b, null]}");
    assertThat(headers.get("fencepost-key")).hasToString(row.key());
    var properties = got.getProps();
    assertThat(properties.getMessageId()).isEqualTo(row.eventId());
    assertThat(properties.getType()).isEqualTo("order.placed");
    assertThat(properties.getContentType()).isEqualTo("application/json");
    assertThat(properties.getDeliveryMode()).isEqualTo(2);
    assertThat(properties.getTimestamp()).isEqualTo(Date.from(PublishHarness.WRITTEN));
    assertThat(properties.getCorrelationId()).isEqualTo("c");
    assertThat(properties.getReplyTo()).isEqualTo("r");
    assertThat(properties.getExpiration()).isEqualTo("60000");
    assertThat(properties.getPriority()).isEqualTo(3);
    assertThat(properties.getUserId()).isEqualTo("guest");
    assertThat(properties.getAppId()).isEqualTo("a");
    assertThat(properties.getContentEncoding()).isEqualTo("utf-8");
  }

  @Test
  void tellsUnroutableRowsFromTheirNeighbours() throws Exception {
    plain.queue("known", Map.of("x-queue-type", "quorum"));
    PublishChannel channel = harness.open("lane-0", told);
    List<OutboxRow> rows =
        List.of(
            harness.row("", "known"),
            harness.row("", "unknown"),
            harness.row("amq.topic", "nobody"),
            harness.row("", "known"));
    harness.publish(channel, rows);
    told.awaitVerdicts(4);
    assertThat(told.verdicts.get(1L).refusal()).isNull();
    assertThat(told.verdicts.get(2L).refusal()).isEqualTo(ParkedReason.UNROUTABLE);
    assertThat(told.verdicts.get(2L).detail()).isEqualTo("312 NO_ROUTE");
    assertThat(told.verdicts.get(3L).refusal()).isEqualTo(ParkedReason.UNROUTABLE);
    assertThat(told.verdicts.get(4L).refusal()).isNull();
    assertThat(told.closed).isEmpty();
  }

  @Test
  void aMissingExchangeClosesTheChannelWithItsReason() {
    PublishChannel channel = harness.open("lane-0", told);
    harness.publish(channel, List.of(harness.row("missing", "x")));
    assertThat(told.awaitClosed(Duration.ofSeconds(5)).kind())
        .isEqualTo(FailureKind.BROKER_NOT_FOUND);
    assertThat(told.refusals).containsExactly(ParkedReason.EXCHANGE_MISSING);
    assertThat(told.closed.get(0)).hasMessageContaining("no exchange 'missing'");
  }

  @Test
  void refusedAccessClosesTheChannelWithItsReason() {
    String limited =
        TestServers.broker().addUser(uri, "limited-writer", "p:@/%", ".*", "allowed", ".*");
    try (PublishHarness other = new PublishHarness(limited)) {
      PublishChannel channel = other.open("lane-0", told);
      other.publish(channel, List.of(other.row("amq.topic", "x")));
      assertThat(told.awaitClosed(Duration.ofSeconds(5)).kind())
          .isEqualTo(FailureKind.BROKER_ACCESS_REFUSED);
      assertThat(told.refusals).containsExactly(ParkedReason.ACCESS_REFUSED);
    }
  }

  @Test
  void aFullQueueRejectsWithinASecond() throws Exception {
    plain.queue("full", Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
    PublishChannel channel = harness.open("lane-0", told);
    harness.publish(channel, harness.rows(1, "full"));
    told.awaitVerdicts(1);
    harness.publish(channel, harness.rows(1, "full"));
    Await.until("rejected", Duration.ofSeconds(1), () -> told.verdicts.size() == 2);
    assertThat(told.verdicts.get(2L).refusal()).isEqualTo(ParkedReason.REJECTED);
    assertThat(told.closed).isEmpty();
  }

  @Test
  void refusesWhatWouldCloseTheChannelBeforeWritingIt() throws Exception {
    plain.queue("strict", Map.of());
    PublishChannel channel = harness.open("lane-0", told);
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    String big = "x".repeat(140_000);
    List<OutboxRow> rows =
        List.of(
            harness.row("", "strict", new byte[(16 << 20) + 1], "{}", "{}"),
            harness.row("", "s".repeat(256), body, "{}", "{}"),
            harness.row("", "strict", body, "{\"h\":\"" + big + "\"}", "{}"),
            harness.row("", "strict", body, "{}", "{\"expiration\":\"soon\"}"),
            harness.row("", "strict", body, "{}", "{\"priority\":256}"),
            harness.row("", "strict", body, "{}", "{\"delivery_mode\":1}"),
            harness.row("", "strict", body, "{\"n\":99999999999999999999}", "{}"),
            harness.row("", "strict", body, "{\"b\":{\"$bytes\":\"?\"}}", "{}"),
            harness.row("", "strict", body, "{\"CC\":\"x\"}", "{}"),
            harness.row("", "strict", body, "[]", "{}"),
            harness.row("", "strict", body, "{}", "{}"));
    harness.publish(channel, rows);
    told.awaitVerdicts(11);
    assertThat(told.verdicts.get(1L).refusal()).isEqualTo(ParkedReason.TOO_LARGE);
    for (long seq = 2; seq <= 10; seq++) {
      assertThat(told.verdicts.get(seq).refusal())
          .as("row %s", seq)
          .isEqualTo(ParkedReason.INVALID_PROPERTY);
    }
    assertThat(told.verdicts.get(11L).refusal()).isNull();
    assertThat(told.closed).isEmpty();
  }

  @Test
  void aForeignUserIdIsAnInvalidProperty() throws Exception {
    plain.queue("users", Map.of());
    PublishChannel channel = harness.open("lane-0", told);
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    harness.publish(
        channel, List.of(harness.row("", "users", body, "{}", "{\"user_id\":\"somebody\"}")));
    told.awaitClosed(Duration.ofSeconds(5));
    assertThat(told.refusals).containsExactly(ParkedReason.INVALID_PROPERTY);
  }

  @Test
  void stopsByItselfWhenTheLeaseCannotBeTrusted() throws Exception {
    plain.queue("trust", Map.of());
    PublishChannel channel = harness.open("lane-0", told);
    harness.publish(channel, harness.rows(1, "trust"));
    told.awaitVerdicts(1);
    harness.trust.set(System.nanoTime() - 1);
    harness.publish(channel, harness.rows(10, "trust"));
    assertThat(told.awaitClosed(Duration.ofSeconds(5)).kind()).isEqualTo(FailureKind.LEASE_LOST);
    assertThat(told.refusals).isEmpty();
    assertThat(plain.depth("trust")).isEqualTo(1);
  }

  @Test
  void aWrongPasswordIsOneClearLine() {
    String wrong = RabbitServer.uriAs(uri, "guest", "secret-password");
    try (PublishHarness other = new PublishHarness(wrong)) {
      Throwable failure =
          Await.failure(other.onContext(() -> other.publisher.open("lane-0", () -> 0, told)));
      assertThat(failure).hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_AUTHENTICATION);
      assertThat(failure.getMessage())
          .contains("127.0.0.1:", "user 'guest'", "vhost 'test-")
          .doesNotContain("secret-password", "\n");
    }
  }

  @Test
  void anUnreachableBrokerFailsTheOpening() {
    try (PublishHarness other = new PublishHarness("amqp://guest:guest@127.0.0.1:1/")) {
      Throwable failure =
          Await.failure(other.onContext(() -> other.publisher.open("lane-0", () -> 0, told)));
      assertThat(failure).hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_UNREACHABLE);
    }
  }
}
