package dev.fencepost.rabbit;

import static dev.fencepost.rabbit.ConsumeHarness.declare;
import static dev.fencepost.rabbit.ConsumeHarness.queue;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.rabbit.ConsumeHarness.Told;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.Deliveries.Subscription;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RabbitDeliveriesIT {

  private static final QueueConfig.Binding BINDING =
      new QueueConfig.Binding("orders", "topic", "order.#");

  private String uri;
  private String vhost;
  private ConsumeHarness harness;
  private Plain plain;
  private final Told told = new Told();

  @BeforeEach
  void start() {
    uri = TestServers.broker().newVhost();
    vhost = URI.create(uri).getPath().substring(1);
    harness = new ConsumeHarness(uri);
    plain = new Plain(uri);
  }

  @AfterEach
  void stop() throws Exception {
    plain.close();
    harness.close();
  }

  @Test
  void declaresConsumesAndAcknowledges() throws Exception {
    Subscription subscription = harness.consume(queue("a", declare("quorum", BINDING), 256), told);
    told.awaitEpochs(1);
    send(1000);
    Await.until(
        "all",
        () -> {
          List<Delivery> all = told.delivered;
          harness.ack(
              subscription,
              all.subList(told.stale.size(), all.size()).stream()
                  .map(Delivery::tag)
                  .toArray(Delivery.Tag[]::new));
          return all.size() >= 1000;
        });
    assertThat(told.thread.getName()).contains("eventloop");
    assertThat(told.batches.size()).isLessThan(800);
    assertThat(told.delivered.stream().map(d -> d.envelope().property("message_id")))
        .containsExactlyElementsOf(ids(1000));
    assertThat(queueType("a")).contains("rabbit_quorum_queue");
    // What was not acknowledged would be ready again now.
    Await.result(harness.onContext(subscription::close));
    assertThat(plain.depth("app.a")).isZero();
  }

  @Test
  void setsPrefetchAgainAfterEveryLoss() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(uri);
        ConsumeHarness cut = new ConsumeHarness(proxy.uri(uri))) {
      Subscription subscription = cut.consume(queue("p", declare("classic", BINDING), 7), told);
      told.awaitEpochs(1);
      send(20);
      told.awaitDelivered(7);
      assertThat(prefetch()).isEqualTo("7");
      proxy.cut();
      Await.until("interrupted", () -> !told.interruptions.isEmpty());
      assertThat(told.interruptions.get(0).kind()).isEqualTo(FailureKind.CHANNEL_CLOSED);
      told.awaitEpochs(2);
      told.awaitDelivered(14);
      assertThat(prefetch()).isEqualTo("7");
      List<Delivery> again = told.delivered.subList(7, 14);
      assertThat(again).allMatch(Delivery::redelivered);
      assertThat(again.get(0).tag().epoch()).isNotEqualTo(told.delivered.get(0).tag().epoch());
      // Tags of the first epoch acknowledge nothing of the second.
      for (int i = 0; i < 7; i++) {
        cut.ack(subscription, told.delivered.get(i).tag());
      }
      Await.until("dropped", () -> told.stale.size() == 7);
      assertThat(unacked("p")).isEqualTo(7);
      assertThat(told.epochs).hasSize(2);
    }
  }

  @Test
  void changesThePrefetchWithoutLosingWhatIsInHand() throws Exception {
    Subscription subscription = harness.consume(queue("f", declare("classic", BINDING), 5), told);
    told.awaitEpochs(1);
    send(30);
    told.awaitDelivered(5);
    harness.onContext(
        () -> {
          subscription.prefetch(10);
          return Future.succeededFuture();
        });
    told.awaitDelivered(15);
    assertThat(prefetch()).isEqualTo("10");
    harness.ack(
        subscription,
        told.delivered.subList(0, 15).stream().map(Delivery::tag).toArray(Delivery.Tag[]::new));
    told.awaitDelivered(25);
    assertThat(told.stale).isEmpty();
    assertThat(told.epochs).hasSize(1);
    assertThat(told.delivered.stream().map(d -> d.envelope().property("message_id")))
        .containsExactlyElementsOf(ids(25));
    Await.result(harness.onContext(subscription::stopIntake));
    Await.result(harness.onContext(subscription::close));
    assertThat(plain.depth("app.f")).isEqualTo(15);
  }

  @Test
  void dropsASecondAcknowledgement() throws Exception {
    Subscription subscription = harness.consume(queue("d", declare("classic", BINDING), 10), told);
    told.awaitEpochs(1);
    send(2);
    told.awaitDelivered(2);
    Delivery.Tag first = told.delivered.get(0).tag();
    harness.ack(subscription, first, first);
    Await.until("dropped", () -> told.stale.equals(List.of(first)));
    harness.ack(subscription, told.delivered.get(1).tag());
    Await.asserted("acknowledged", Duration.ofSeconds(5), () -> assertThat(unacked("d")).isZero());
    assertThat(told.interruptions).isEmpty();
  }

  @Test
  void acknowledgesPastASlowHeadWithoutTouchingIt() throws Exception {
    Subscription subscription = harness.consume(queue("h", declare("classic", BINDING), 50), told);
    told.awaitEpochs(1);
    send(50);
    told.awaitDelivered(50);
    for (Delivery delivery : told.delivered.subList(1, 50)) {
      harness.ack(subscription, delivery.tag());
    }
    Await.asserted(
        "the head alone", Duration.ofSeconds(5), () -> assertThat(unacked("h")).isEqualTo(1));
    harness.ack(subscription, told.delivered.get(0).tag());
    Await.asserted("none", Duration.ofSeconds(5), () -> assertThat(unacked("h")).isZero());
    assertThat(told.stale).isEmpty();
    assertThat(told.interruptions).isEmpty();
  }

  @Test
  void comesBackWhenItsQueueWasDeleted() throws Exception {
    harness.consume(queue("q", declare("quorum", BINDING), 10), told);
    told.awaitEpochs(1);
    plain.channel.queueDelete("app.q");
    told.awaitEpochs(2);
    assertThat(told.interruptions.get(0).kind()).isEqualTo(FailureKind.BROKER_NOT_FOUND);
    send(1);
    told.awaitDelivered(1);
  }

  @Test
  void waitsForAQueueOfSomebodyElse() throws Exception {
    harness.consume(queue("w", null, 10), told);
    Await.until("told why", () -> !told.interruptions.isEmpty());
    assertThat(told.interruptions.get(0).kind()).isEqualTo(FailureKind.BROKER_NOT_FOUND);
    plain.queue("app.w", Map.of());
    told.awaitEpochs(1);
  }

  @Test
  void refusesAQueueThatExistsWithOtherSettings() throws Exception {
    plain.queue("app.o", Map.of("x-message-ttl", 1000));
    Throwable failure =
        Await.failure(
            harness.onContext(
                () ->
                    harness.deliveries.consume(queue("o", declare("quorum", BINDING), 10), told)));
    assertThat(failure).hasFieldOrPropertyWithValue("kind", FailureKind.CONFIGURATION);
    assertThat(failure.getMessage()).contains("app.o", "x-message-ttl", "leave it out");
  }

  @Test
  void keepsWhatItCannotReadAndSaysSo() throws Exception {
    harness.consume(queue("u", declare("quorum", BINDING), 10), told);
    told.awaitEpochs(1);
    LongString broken = LongStringHelper.asLongString(new byte[] {'a', (byte) 0xC3});
    Map<String, Object> headers = new java.util.HashMap<>();
    headers.put("broken", broken);
    headers.put("text", "ü");
    headers.put("list", List.of("a", 1, Map.of("b", 2L)));
    headers.put("none", null);
    Date at = new Date(1_700_000_000_000L);
    BasicProperties properties =
        new BasicProperties.Builder()
            .messageId("m")
            .type("t")
            .priority(3)
            .timestamp(at)
            .headers(headers)
            .build();
    plain.channel.basicPublish("orders", "order.x", properties, new byte[] {-1, 0});
    plain.channel.basicPublish("orders", "order.x", null, new byte[0]);
    told.awaitDelivered(2);
    Delivery.Envelope first = told.delivered.get(0).envelope();
    assertThat(first.fault()).isEqualTo("header broken is not UTF-8");
    assertThat((byte[]) first.headers().get("broken")).containsExactly('a', 0xC3);
    assertThat(first.headers())
        .containsEntry("text", "ü")
        .containsEntry("list", List.of("a", 1, Map.of("b", 2L)))
        .containsEntry("none", null);
    assertThat(first.properties())
        .containsEntry("message_id", "m")
        .containsEntry("type", "t")
        .containsEntry("priority", 3)
        .containsEntry("timestamp", at);
    assertThat(first.body()).containsExactly(-1, 0);
    assertThat(first.exchange()).isEqualTo("orders");
    assertThat(first.routingKey()).isEqualTo("order.x");
    Delivery.Envelope second = told.delivered.get(1).envelope();
    assertThat(second.fault()).isNull();
    assertThat(second.properties()).doesNotContainKey("message_id");
    assertThat(second.body()).isEmpty();
  }

  @Test
  void countsDeliveriesWhereTheBrokerDoes() throws Exception {
    try (ConsumeHarness first = new ConsumeHarness(uri)) {
      Told before = new Told();
      first.consume(queue("c", declare("quorum", BINDING), 10), before);
      before.awaitEpochs(1);
      send(1);
      before.awaitDelivered(1);
      assertThat(before.delivered.get(0).deliveries()).isEqualTo(1);
    }
    harness.consume(queue("c", declare("quorum", BINDING), 10), told);
    told.awaitDelivered(1);
    assertThat(told.delivered.get(0).redelivered()).isTrue();
    assertThat(told.delivered.get(0).deliveries()).isEqualTo(2);
  }

  @Test
  void stopsIntakeAndStillAcknowledges() throws Exception {
    Subscription subscription = harness.consume(queue("s", declare("quorum", BINDING), 10), told);
    told.awaitEpochs(1);
    send(3);
    told.awaitDelivered(3);
    Await.result(harness.onContext(subscription::stopIntake));
    send(2);
    harness.ack(subscription, told.delivered.get(0).tag(), told.delivered.get(2).tag());
    Await.result(harness.onContext(subscription::close));
    assertThat(told.delivered).hasSize(3);
    Await.asserted(
        "the third is back",
        Duration.ofSeconds(5),
        () -> assertThat(plain.depth("app.s")).isEqualTo(3));
    assertThat(told.stale).isEmpty();
  }

  @Test
  void triesSeveralBrokersInTurn() {
    try (ConsumeHarness other = new ConsumeHarness("amqp://guest:guest@127.0.0.1:1/", uri)) {
      other.consume(queue("t", declare("quorum", BINDING), 10), told);
      told.awaitEpochs(1);
    }
  }

  @Test
  void publishesConfirmedCopies() throws Exception {
    plain.queue("copies", Map.of("x-queue-type", "quorum"));
    plain.channel.exchangeDeclare("dead", "fanout", true);
    plain.channel.queueBind("copies", "dead", "");
    Delivery.Envelope message =
        new Delivery.Envelope(
            "orders",
            "order.x",
            Map.of("message_id", "m-1", "type", "t", "user_id", "somebody", "expiration", "1"),
            Map.of("n", 1),
            new byte[] {1, 2},
            null);
    Await.result(harness.onContext(() -> harness.deliveries.publishCopy("dead", message)));
    var got = plain.get("copies");
    assertThat(got.getBody()).containsExactly(1, 2);
    assertThat(got.getProps().getMessageId()).isEqualTo("m-1");
    assertThat(got.getProps().getExpiration()).isNull();
    assertThat(got.getProps().getHeaders())
        .containsEntry("n", 1)
        .hasEntrySatisfying(
            "fencepost-original-user-id", v -> assertThat(v).hasToString("somebody"));
    Throwable failure =
        Await.failure(harness.onContext(() -> harness.deliveries.publishCopy("no", message)));
    assertThat(failure).hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_NOT_FOUND);
    Await.result(harness.onContext(() -> harness.deliveries.publishCopy("dead", message)));
  }

  private void send(int count) throws Exception {
    for (int i = 1; i <= count; i++) {
      plain.channel.basicPublish(
          "orders",
          "order.placed",
          new BasicProperties.Builder().messageId("m-" + i).type("order.placed").build(),
          ("body " + i).getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
  }

  private static List<String> ids(int count) {
    return java.util.stream.IntStream.rangeClosed(1, count).mapToObj(i -> "m-" + i).toList();
  }

  private String queueType(String name) {
    return TestServers.broker()
        .eval(
            "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\""
                + vhost
                + "\">>, queue, <<\"app."
                + name
                + "\">>)), amqqueue:get_type(Q)");
  }

  private int unacked(String name) {
    String text =
        TestServers.broker()
            .eval(
                "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\""
                    + vhost
                    + "\">>, queue, <<\"app."
                    + name
                    + "\">>)),"
                    + " [{_, N}] = rabbit_amqqueue:info(Q, [messages_unacknowledged]), N");
    return Integer.parseInt(text.strip());
  }

  /** The prefetch of the vhost's only consumer. */
  private String prefetch() {
    return TestServers.broker()
        .eval(
            "hd([proplists:get_value(prefetch_count, C) || C <- rabbit_amqqueue:consumers_all(<<\""
                + vhost
                + "\">>)])")
        .strip();
  }
}
