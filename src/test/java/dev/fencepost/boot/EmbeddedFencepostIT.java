package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.api.Fencepost;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.Reloaded;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fencepost in an application's own Vert.x, with objects of the application as handlers. */
class EmbeddedFencepostIT {

  private final Vertx vertx = Vertx.vertx();
  private String database;
  private String broker;
  private int admin;
  private String yaml;

  @BeforeEach
  void configure() {
    database = TestServers.postgres().newDatabase();
    broker = TestServers.broker().newVhost();
    admin = Ports.free();
    yaml =
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        admin: {port: %d}
        metrics: {jmx: false}
        queues:
          mail:
            queue: app.mail
            declare: {type: quorum, bind: [{exchange: orders, exchange-type: topic, routing-key: "#"}]}
            activities:
              order.placed: {kind: idempotent, handler: {class: com.example.Mailer}}
        """
            .formatted(database, broker, admin);
  }

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  @Test
  void runsHandlersOfTheApplicationAndLeavesItsVertxOpen() {
    new Schema(ConfigLoader.parse(yaml, Map.of())).migrate(null);
    List<String> mailed = new CopyOnWriteArrayList<>();
    Fencepost fencepost =
        Fencepost.create(vertx, yaml)
            .handler(
                "mail",
                "order.placed",
                context -> {
                  mailed.add(context.eventId());
                  return Future.succeededFuture(Receipt.succeeded());
                });
    Await.result(fencepost.start());
    PostgresServer.execute(
        database,
        "insert into fencepost.outbox (event_id, exchange, routing_key, type, payload)"
            + " values ('one', 'orders', 'order.placed', 'order.placed', '{}')");
    Await.until("the handler ran", () -> mailed.equals(List.of("one")));
    Await.result(fencepost.stop());
    assertThat(Await.result(vertx.executeBlocking(() -> "open"))).isEqualTo("open");
  }

  @Test
  void whoStopsItTwiceWaitsForTheSameEnd() {
    new Schema(ConfigLoader.parse(yaml, Map.of())).migrate(null);
    Promise<Void> running = Promise.promise();
    Promise<Receipt> run = Promise.promise();
    Fencepost fencepost =
        Fencepost.create(vertx, yaml)
            .handler(
                "mail",
                "order.placed",
                context -> {
                  running.tryComplete();
                  return run.future();
                });
    Await.result(fencepost.start());
    PostgresServer.execute(
        database,
        "insert into fencepost.outbox (event_id, exchange, routing_key, type, payload)"
            + " values ('one', 'orders', 'order.placed', 'order.placed', '{}')");
    Await.result(running.future());

    Future<Void> first = fencepost.stop();
    Future<Void> second = fencepost.stop();
    assertThat(second.isComplete()).as("while a handler runs").isFalse();
    run.complete(Receipt.succeeded());
    Await.result(second);
    assertThat(first.succeeded()).isTrue();
  }

  /** Wherever it is in its start: at the database, at the broker, at the worker's connection. */
  @Test
  void whoStopsWhileItStartsHasItStoppedWhole() throws Exception {
    new Schema(ConfigLoader.parse(yaml, Map.of())).migrate(null);
    try (TcpProxy toDatabase = TcpProxy.to(database);
        TcpProxy toBroker = TcpProxy.to(broker)) {
      String proxied =
          yaml.replace(database, toDatabase.uri(database)).replace(broker, toBroker.uri(broker));

      toDatabase.freeze();
      assertStopsWhileStarting(proxied, () -> toDatabase.accepted() > 0);
      toDatabase.thaw();
      toBroker.freeze();
      int before = toBroker.accepted();
      assertStopsWhileStarting(proxied, () -> toBroker.accepted() > before);
      toBroker.thaw();
      // The worker's own connection is begun, and not answered.
      toBroker.delay(Duration.ofMillis(100));
      int gate = toBroker.accepted();
      assertStopsWhileStarting(
          proxied.replace("metrics:", "relay: {enabled: false}\nmetrics:"),
          () -> toBroker.accepted() > gate + 1);
      Await.until(
          "no connection is left", () -> toDatabase.connections() + toBroker.connections() == 0);
    }
  }

  private void assertStopsWhileStarting(String configuration, Callable<Boolean> meanwhile) {
    Fencepost fencepost =
        Fencepost.create(vertx, configuration)
            .handler("mail", "order.placed", c -> Future.succeededFuture(Receipt.succeeded()));
    Future<Void> started = fencepost.start();
    Await.until("it is in the middle of it", meanwhile);
    Future<Void> stopped = fencepost.stop();
    assertThat(started.isComplete()).isFalse();
    Await.result(stopped);
    assertThat(Await.failure(started)).isNotNull();
    assertThat(vertx.deploymentIDs()).isEmpty();
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), admin).close())
        .isInstanceOf(ConnectException.class);
  }

  @Test
  void appliesAChangedConfigurationWhenTheApplicationSaysSo() {
    new Schema(ConfigLoader.parse(yaml, Map.of())).migrate(null);
    Fencepost fencepost =
        Fencepost.create(vertx, yaml)
            .handler("mail", "order.placed", c -> Future.succeededFuture(Receipt.succeeded()));
    assertThat(Await.failure(fencepost.reload(yaml))).hasMessageContaining("not been started");
    Await.result(fencepost.start());

    String fresh =
        yaml.replace("queue: app.mail", "queue: app.mail\n    prefetch: 10")
            .replace("database: {", "database: {pool-size: 3, ");
    Reloaded reloaded = Await.result(fencepost.reload(fresh));
    Reloaded same = Await.result(fencepost.reload(fresh));

    assertThat(reloaded.applied()).contains("queues.mail.prefetch");
    assertThat(reloaded.needRestart()).containsExactly("database.pool-size");
    assertThat(same.applied()).isEmpty();
    assertThat(Await.failure(fencepost.reload(fresh.replace("prefetch: 10", "prefetch: ten"))))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.CONFIGURATION))
        .hasMessageContaining("queues.mail.prefetch: ten");
    assertThat(Await.failure(fencepost.reload(Path.of("nowhere.yaml"))))
        .hasMessageContaining("nowhere.yaml");
    Await.result(fencepost.stop());
  }

  @Test
  void aHandlerThatDoesNotFitIsRefused() {
    Fencepost effect =
        Fencepost.create(vertx, yaml)
            .effectHandler(
                "mail",
                "order.placed",
                (context, transaction) -> Future.succeededFuture(Receipt.succeeded()));
    assertThatThrownBy(() -> Await.result(effect.start()))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.CONFIGURATION))
        .hasMessageContaining("queues.mail.activities.order.placed");
    Fencepost unknown =
        Fencepost.create(vertx, yaml)
            .handler("post", "x", context -> Future.succeededFuture(Receipt.succeeded()));
    assertThatThrownBy(() -> Await.result(unknown.start()))
        .hasMessageContaining("queues.post.activities.x");
  }

  @Test
  void startFailsWhereAPersonHasToChangeSomething() {
    Fencepost fencepost =
        Fencepost.create(vertx, yaml)
            .handler("mail", "order.placed", c -> Future.succeededFuture(Receipt.succeeded()));
    assertThat(Await.failure(fencepost.start()))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.SCHEMA_MISSING));
  }
}
