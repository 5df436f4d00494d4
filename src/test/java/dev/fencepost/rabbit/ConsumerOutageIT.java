package dev.fencepost.rabbit;

import static dev.fencepost.rabbit.ConsumeHarness.declare;
import static dev.fencepost.rabbit.ConsumeHarness.queue;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.rabbit.ConsumeHarness.Told;
import dev.fencepost.rabbit.PublishHarness.Plain;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.worker.Deliveries.Subscription;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Outages and limits of a node of its own, with the management API. */
class ConsumerOutageIT {

  private static final QueueConfig.Binding BINDING =
      new QueueConfig.Binding("orders", "topic", "order.#");
  private static RabbitServer server;
  private final Told told = new Told();

  @BeforeAll
  static void start() {
    server = RabbitServer.startWithManagement(Map.of());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void comesBackAfterTheBrokerWasKilled() throws Exception {
    String uri = server.newVhost();
    try (ConsumeHarness harness = new ConsumeHarness(uri)) {
      Subscription subscription = harness.consume(queue("k", declare("quorum", BINDING), 5), told);
      told.awaitEpochs(1);
      send(uri, 1);
      told.awaitDelivered(1);
      server.kill();
      Await.until("interrupted", () -> !told.interruptions.isEmpty());
      server.restart();
      told.awaitEpochs(2);
      told.awaitDelivered(2);
      assertThat(told.delivered.get(1).redelivered()).isTrue();
      harness.ack(subscription, told.delivered.get(1).tag());
      send(uri, 1);
      told.awaitDelivered(3);
      assertThat(told.delivered.get(2).redelivered()).isFalse();
    }
  }

  @Test
  void startsWhileTheBrokerIsAwayAndConsumesWhenItComes() throws Exception {
    String uri = server.newVhost();
    server.stop();
    try (ConsumeHarness harness = new ConsumeHarness(uri)) {
      harness.consume(queue("late", declare("quorum", BINDING), 5), told);
      Await.until("told why", () -> !told.interruptions.isEmpty());
      assertThat(told.interruptions.get(0).kind()).isEqualTo(FailureKind.BROKER_UNREACHABLE);
      server.restart();
      told.awaitEpochs(1);
    } finally {
      if (!server.isRunning()) {
        server.restart();
      }
    }
  }

  @Test
  void noticesASilentConnection() throws Exception {
    String uri = server.newVhost();
    try (TcpProxy proxy = TcpProxy.to(uri);
        ConsumeHarness harness = new ConsumeHarness(proxy.uri(uri) + "?heartbeat=1")) {
      harness.consume(queue("silent", declare("quorum", BINDING), 5), told);
      told.awaitEpochs(1);
      proxy.freeze();
      Await.until("noticed", Duration.ofSeconds(6), () -> !told.interruptions.isEmpty());
      proxy.thaw();
      told.awaitEpochs(2);
      send(uri, 1);
      told.awaitDelivered(1);
    }
  }

  @Test
  void comesBackAfterTheConsumerTimeout() throws Exception {
    server.eval(
        "application:set_env(rabbit, channel_tick_interval, 500),"
            + " application:set_env(rabbit, consumer_timeout, 1000)");
    String uri = server.newVhost();
    try (ConsumeHarness harness = new ConsumeHarness(uri)) {
      Subscription subscription = harness.consume(queue("t", declare("classic", BINDING), 5), told);
      told.awaitEpochs(1);
      send(uri, 1);
      told.awaitDelivered(1);
      Await.until("closed by the broker", () -> !told.interruptions.isEmpty());
      assertThat(told.interruptions.get(0).kind()).isEqualTo(FailureKind.BROKER_PRECONDITION);
      told.awaitEpochs(2);
      told.awaitDelivered(2);
      assertThat(told.delivered.get(1).redelivered()).isTrue();
      harness.ack(subscription, told.delivered.get(0).tag(), told.delivered.get(1).tag());
      Await.until("the old tag is dropped", () -> told.stale.size() == 1);
    } finally {
      server.eval(
          "application:set_env(rabbit, channel_tick_interval, 60000),"
              + " application:set_env(rabbit, consumer_timeout, 1800000)");
    }
  }

  @Test
  void refusesAQueueWithADeliveryLimitThatTheManagementApiTells() throws Exception {
    String uri = server.newVhost();
    try (Plain plain = new Plain(uri);
        ConsumeHarness harness = new ConsumeHarness(managed(uri))) {
      plain.queue("app.limited", Map.of("x-queue-type", "quorum", "x-delivery-limit", 5));
      Throwable failure =
          Await.failure(
              harness.onContext(
                  () -> harness.deliveries.consume(queue("limited", null, 10), told)));
      assertThat(failure).hasFieldOrPropertyWithValue("kind", FailureKind.CONFIGURATION);
      assertThat(failure.getMessage()).contains("app.limited", "delivery limit of 5");
      assertThat(told.epochs).isEmpty();

      harness.consume(queue("ours", declare("quorum", BINDING), 10), told);
      told.awaitEpochs(1);
    }
  }

  @Test
  void answersSmallQuestions() throws Exception {
    String uri = server.newVhost();
    try (Plain plain = new Plain(uri);
        ConsumeHarness harness = new ConsumeHarness(uri)) {
      plain.queue("depth", Map.of());
      for (int i = 0; i < 3; i++) {
        plain.channel.basicPublish("", "depth", null, new byte[0]);
      }
      BrokerAdmin admin = harness.broker.admin();
      Await.until(
          "three", () -> Await.result(harness.onContext(() -> admin.depth("depth"))).ready() == 3);
      assertThat(Await.failure(harness.onContext(() -> admin.depth("none"))))
          .hasFieldOrPropertyWithValue("kind", FailureKind.BROKER_NOT_FOUND);
      assertThat(Await.result(harness.onContext(admin::identity)).product()).isEqualTo("RabbitMQ");
    }
  }

  private static FencepostConfig.Broker managed(String uri) {
    return new FencepostConfig.Broker(
        List.of(uri), URI.create(server.managementUri()), Duration.ofMinutes(30));
  }

  private static void send(String uri, int count) throws Exception {
    try (Plain plain = new Plain(uri)) {
      plain.channel.confirmSelect();
      for (int i = 0; i < count; i++) {
        plain.channel.basicPublish(
            "orders",
            "order.placed",
            com.rabbitmq.client.MessageProperties.PERSISTENT_BASIC,
            "{}".getBytes(StandardCharsets.UTF_8));
      }
      plain.channel.waitForConfirmsOrDie(10_000);
    }
  }
}
