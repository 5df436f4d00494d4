package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import dev.fencepost.tracing.Tracing;
import dev.fencepost.worker.BoundHandler;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One trace from the row to the handler, over real servers. */
@Timeout(120)
class TracingIT {

  private static final String SPAN = "00f067aa0ba902b7";

  private final String database = TestServers.postgres().newDatabase();
  private final String broker = TestServers.broker().newVhost();
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final Map<String, String> received = new ConcurrentHashMap<>();
  private final Vertx vertx = Vertx.vertx();
  private HttpServer remote;
  private Service service;

  @BeforeEach
  void start() throws IOException {
    remote = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    remote.createContext(
        "/",
        exchange -> {
          received.put(
              exchange.getRequestHeaders().getFirst("Idempotency-Key"),
              String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    remote.start();
    FencepostConfig config =
        ConfigLoader.parse(
            """
            database: {uris: ["%s"]}
            broker: {uris: ["%s"]}
            relay: {lanes: 2}
            worker: {shutdown-deadline: 5s}
            metrics: {jmx: false}
            queues:
              mail:
                queue: app.mail
                declare: {type: classic, bind: [{exchange: app, exchange-type: topic, routing-key: "#"}]}
                activities:
                  http: {kind: idempotent, handler: {http: {url: "http://127.0.0.1:%d/"}}}
                  java: {kind: idempotent, handler: {class: x.Y}, retry: {base-delay: 50ms}}
                  blocking: {kind: pure, handler: {class: x.Y}}
                  effect: {kind: effect, handler: {class: x.Y}}
                  stuck:
                    kind: idempotent
                    handler: {class: x.Y}
                    limits: {soft: 200ms, hard: 400ms}
                    retry: {max-retries: 0}
            """
                .formatted(database, broker, remote.getAddress().getPort()),
            Map.of());
    new Schema(config).migrate(null);
    Tracing tracing =
        Tracing.over(
            OpenTelemetrySdk.builder()
                .setTracerProvider(
                    SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(spans))
                        .build())
                .build());
    service =
        new Service(
            vertx,
            config,
            new Parts(true, true, false),
            new Service.Wiring(handlers(), Telemetry.of(config, tracing)));
    Await.result(service.start());
  }

  private CodeHandlers handlers() {
    BlockingActivityHandler blocking =
        context -> {
          received.put(context.eventId(), traceparent(context.headers()));
          return Receipt.succeeded(Span.current().getSpanContext().getSpanId());
        };
    EffectHandler effect =
        (context, transaction) -> {
          received.put(context.eventId(), traceparent(context.headers()));
          return transaction.query("select 1").execute().map(v -> Receipt.succeeded());
        };
    return new CodeHandlers()
        .register("mail", "blocking", new BoundHandler.Blocking(blocking))
        .register("mail", "effect", new BoundHandler.Effect(effect))
        .register("mail", "stuck", new BoundHandler.Async(context -> Future.future(never -> {})))
        .register(
            "mail",
            "java",
            new BoundHandler.Async(
                context -> {
                  received.put(context.eventId(), traceparent(context.headers()));
                  return context.attempt() == 1
                      ? Future.failedFuture(new TransientFailure("not yet"))
                      : Future.succeededFuture(Receipt.succeeded());
                }));
  }

  private static String traceparent(Map<String, Object> headers) {
    return String.valueOf(headers.get("traceparent"));
  }

  @AfterEach
  void stop() {
    Await.result(service.stop());
    Await.result(vertx.close());
    remote.stop(0);
  }

  private static String trace(int number) {
    return "4bf92f3577b34da6a3ce929d0e0e473" + number;
  }

  private void publish(String type, int number) {
    PostgresServer.execute(
        database,
        "select fencepost.publish(exchange => 'app', routing_key => 'x', type => '"
            + type
            + "', payload => '{}', event_id => 'e-"
            + number
            + "', headers => '{\"traceparent\": \"00-"
            + trace(number)
            + "-"
            + SPAN
            + "-01\"}')");
  }

  private List<SpanData> spans(int number, int count) {
    Await.until(
        count + " spans of trace " + number,
        Duration.ofSeconds(30),
        () ->
            spans.getFinishedSpanItems().stream()
                    .filter(span -> span.getTraceId().equals(trace(number)))
                    .count()
                == count);
    return spans.getFinishedSpanItems().stream()
        .filter(span -> span.getTraceId().equals(trace(number)))
        .toList();
  }

  private static SpanData named(List<SpanData> spans, String name) {
    return spans.stream().filter(span -> span.getName().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void oneTraceFromTheRowToTheHandler() {
    List<String> types = List.of("http", "blocking", "effect");
    for (int i = 0; i < types.size(); i++) {
      publish(types.get(i), i);
    }
    for (int i = 0; i < types.size(); i++) {
      List<SpanData> found = spans(i, 2);
      SpanData published = named(found, "publish app");
      SpanData run = named(found, "run " + types.get(i));
      assertThat(published.getParentSpanId()).isEqualTo(SPAN);
      assertThat(run.getParentSpanId()).isEqualTo(published.getSpanId());
      assertThat(received.get("e-" + i))
          .as(types.get(i) + " is given the run's span")
          .isEqualTo("00-" + trace(i) + "-" + run.getSpanId() + "-01");
    }
  }

  @Test
  void aRunThatNeverReturnsEndsAtItsHardLimit() {
    publish("stuck", 8);

    SpanData run = named(spans(8, 2), "run stuck");

    assertThat(run.getStatus().getStatusCode().name()).isEqualTo("ERROR");
    assertThat(run.getAttributes().get(AttributeKey.stringKey("error.type")))
        .isEqualTo("hard_limit");
    assertThat(Duration.ofNanos(run.getEndEpochNanos() - run.getStartEpochNanos()))
        .isGreaterThanOrEqualTo(Duration.ofMillis(390));
  }

  @Test
  void aRetryIsAnotherRunOfTheSameTrace() {
    publish("java", 7);

    List<SpanData> found = spans(7, 3);

    SpanData published = named(found, "publish app");
    assertThat(found.stream().filter(span -> span.getName().equals("run java")))
        .hasSize(2)
        .allMatch(span -> span.getParentSpanId().equals(published.getSpanId()))
        .extracting(span -> span.getStatus().getStatusCode().name())
        .containsExactly("ERROR", "UNSET");
  }
}
