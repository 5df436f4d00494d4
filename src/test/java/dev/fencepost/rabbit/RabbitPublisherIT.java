package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.rabbit.PublishHarness.Told;
import dev.fencepost.relay.Publisher.PublishChannel;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
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

  /** It would be sent again for ever: the channel has to go, since it has lost count. */
  @Test
  void whatTheClientCannotWriteIsRefusedAndTheRestIsUnsettled() throws Exception {
    plain.queue("fine", Map.of());
    RowEncoder encoder = new RowEncoder(1 << 20, 131_072);
    Outgoing before = encoder.encode(harness.row("", "fine"));
    Outgoing after = encoder.encode(harness.row("", "fine"));
    OutboxRow.Route nowhere = new OutboxRow.Route("", "x".repeat(256));
    Outgoing broken = new Outgoing(7, "event-7", nowhere, after.properties, after.body, true);
    try (OneConnection one = new OneConnection()) {
      ConfirmChannel channel = one.open();
      harness.context.runOnContext(v -> channel.publish(List.of(before, broken, after)));
      told.awaitClosed(Duration.ofSeconds(5));
    }
    assertThat(told.refusals).as("no other row is to blame").isEmpty();
    assertThat(told.verdicts.get(7L)).isNotNull();
    assertThat(told.verdicts.get(7L).refusal()).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(told.verdicts.get(7L).detail()).contains("cannot be written");
    assertThat(told.verdicts).doesNotContainKey(after.id);
  }

  /** The channel is marked as closed before its listeners are called. */
  @Test
  void aClosureThatTheWriterMeetsFirstKeepsItsReplyCode() throws Exception {
    Method reason =
        new AMQP.Channel.Close.Builder()
            .replyCode(404)
            .replyText("NOT_FOUND - no exchange")
            .build();
    Channel closed =
        (Channel)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Channel.class},
                (proxy, method, arguments) -> {
                  throw new AlreadyClosedException(
                      new ShutdownSignalException(false, false, reason, plain.channel));
                });
    List<ConfirmWire.Event> events = new ArrayList<>();
    Outgoing row = new RowEncoder(1 << 20, 131_072).encode(harness.row("", "fine"));
    try (OneConnection one = new OneConnection()) {
      SharedConnections.Share share = Await.result(one.acquire());
      new BatchWriter(share.connection(), closed, harness.trust::get, events::add)
          .write(List.of(row));
    }
    assertThat(events)
        .singleElement()
        .isInstanceOfSatisfying(
            ConfirmWire.Event.Closed.class, event -> assertThat(event.replyCode()).isEqualTo(404));
  }

  /** What a publisher puts its channels on. */
  private final class OneConnection implements AutoCloseable {
    private final BrokerThreads threads = new BrokerThreads();
    private final SharedConnections connections =
        new SharedConnections(
            new BrokerConnector(harness.vertx, threads, List.of(BrokerUri.parse(uri))),
            threads,
            "one",
            1);

    Future<SharedConnections.Share> acquire() {
      return harness.onContext(() -> connections.acquire(harness.context, false));
    }

    ConfirmChannel open() {
      Duration limit = Duration.ofSeconds(30);
      ConfirmChannel.ChannelEnvironment environment =
          new ConfirmChannel.ChannelEnvironment(
              harness.vertx, harness.context, threads, new WriteWatchdog(threads, limit), limit);
      return Await.result(
          acquire()
              .compose(
                  share ->
                      harness.onContext(
                          () ->
                              ConfirmChannel.open(
                                  environment, "lane-0", share, harness.trust::get, told))));
    }

    @Override
    public void close() {
      Await.result(harness.onContext(() -> connections.close(harness.context)));
      threads.close();
    }
  }

  @Test
  void aReplyToNobodyIsAnInvalidProperty() {
    PublishChannel channel = harness.open("lane-0", told);
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    harness.publish(
        channel,
        List.of(
            harness.row("amq.topic", "x", body, "{}", "{\"reply_to\":\"amq.rabbitmq.reply-to\"}")));
    told.awaitClosed(Duration.ofSeconds(5));
    assertThat(told.refusals).containsExactly(ParkedReason.INVALID_PROPERTY);
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
