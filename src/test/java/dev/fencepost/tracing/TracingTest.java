package dev.fencepost.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.HandlerSource;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.vertx.core.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TracingTest {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00-" + TRACE + "-00f067aa0ba902b7-01";

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final Tracing tracing =
      Tracing.over(
          OpenTelemetrySdk.builder()
              .setTracerProvider(
                  SdkTracerProvider.builder()
                      .addSpanProcessor(SimpleSpanProcessor.create(spans))
                      .build())
              .build());
  private final Wire wire = new Wire();

  @AfterEach
  void close() {
    Await.result(tracing.close());
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("otel."))
        .forEach(System::clearProperty);
  }

  /** Takes what is published, and gives verdicts when told. */
  private static final class Wire implements Publisher, Publisher.PublishChannel {
    final List<OutboxRow> rows = new ArrayList<>();
    @Nullable Listener listener;

    @Override
    public Future<PublishChannel> open(String name, TrustDeadline trust, Listener told) {
      listener = told;
      return Future.succeededFuture(this);
    }

    @Override
    public void publish(List<OutboxRow> batch) {
      rows.addAll(batch);
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  /** Says nothing. */
  private static final class Deaf implements Publisher.Listener {
    final List<Publisher.Verdict> verdicts = new ArrayList<>();

    @Override
    public void settled(List<Publisher.Verdict> told) {
      verdicts.addAll(told);
    }

    @Override
    public void blocked(boolean blocked, String reason) {}

    @Override
    public void closed(FencepostException cause, @Nullable ParkedReason refusal) {}
  }

  private static OutboxRow row(long seq, String headers) {
    return new OutboxRow(
        new OutboxRow.Position(1, seq, 3),
        new OutboxRow.Route("orders", "order.placed"),
        "e-" + seq,
        "order.placed",
        null,
        new OutboxRow.Message(new byte[0], "application/json", headers, "{}"));
  }

  private Publisher.PublishChannel open(Publisher.Listener listener) {
    return Await.result(tracing.publisher(wire).open("lane-3", () -> 0, listener));
  }

  @Test
  void aPublicationIsAChildOfTheRowAndTheParentOfWhatComes() {
    Deaf deaf = new Deaf();
    Publisher.PublishChannel channel = open(deaf);

    channel.publish(List.of(row(1, "{\"traceparent\": \"" + PARENT + "\", \"n\": 1.50}")));
    assertThat(spans.getFinishedSpanItems()).as("unconfirmed yet").isEmpty();
    wire.listener.settled(List.of(Publisher.Verdict.confirmed(1)));

    SpanData span = spans.getFinishedSpanItems().get(0);
    assertThat(span.getName()).isEqualTo("publish orders");
    assertThat(span.getTraceId()).isEqualTo(TRACE);
    assertThat(span.getParentSpanId()).isEqualTo("00f067aa0ba902b7");
    assertThat(wire.rows.get(0).message().headers())
        .isEqualTo("{\"traceparent\":\"00-" + TRACE + "-" + span.getSpanId() + "-01\",\"n\":1.50}");
    assertThat(deaf.verdicts).hasSize(1);
  }

  @Test
  void aRowWithoutATraceBeginsOne() {
    open(new Deaf()).publish(List.of(row(1, "{}")));
    assertThat(wire.rows.get(0).message().headers()).contains("\"traceparent\":\"00-");
  }

  @Test
  void whatIsNoObjectIsLeftToTheEncoder() {
    OutboxRow odd = row(1, "[1]");
    open(new Deaf()).publish(List.of(odd));
    assertThat(wire.rows).containsExactly(odd);
  }

  @Test
  void refusedAndLostPublicationsEndAsErrors() {
    open(new Deaf()).publish(List.of(row(1, "{}"), row(2, "{}")));
    wire.listener.settled(List.of(new Publisher.Verdict(1, ParkedReason.UNROUTABLE, "NO_ROUTE")));
    wire.listener.closed(new FencepostException(FailureKind.BROKER_UNREACHABLE, "gone"), null);

    assertThat(spans.getFinishedSpanItems())
        .hasSize(2)
        .allMatch(span -> span.getStatus().getStatusCode() == StatusCode.ERROR);
    assertThat(spans.getFinishedSpanItems())
        .extracting(span -> span.getAttributes().asMap().values().toString())
        .anyMatch(text -> text.contains("unroutable"))
        .anyMatch(text -> text.contains("BROKER_UNREACHABLE"));
  }

  @Test
  void turnedOffNothingIsInTheWay() {
    HandlerSource handlers =
        (queue, activity) -> {
          throw new AssertionError();
        };
    assertThat(Tracing.off().publisher(wire)).isSameAs(wire);
    assertThat(Tracing.off().handlers(handlers)).isSameAs(handlers);
    assertThat(Tracing.off().close().succeeded()).isTrue();
  }

  @Test
  void exportsWhereTheStandardVariablesSay() throws Exception {
    ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes(), "ISO-8859-1");
          asked.add(exchange.getRequestURI() + " " + body);
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    // The SDK reads each variable as a system property too.
    System.setProperty(
        "otel.exporter.otlp.endpoint", "http://127.0.0.1:" + collector.getAddress().getPort());
    Tracing exporting = Tracing.byEnvironment();
    Deaf deaf = new Deaf();
    Await.result(exporting.publisher(wire).open("lane-3", () -> 0, deaf))
        .publish(List.of(row(1, "{}")));
    wire.listener.settled(List.of(Publisher.Verdict.confirmed(1)));

    Await.result(exporting.close());

    collector.stop(0);
    assertThat(asked).hasSize(1);
    assertThat(asked.peek())
        .startsWith("/v1/traces ")
        .contains("publish orders", "service.name", "fencepost");
  }

  @Test
  void aWrongVariableIsAFaultOfTheConfiguration() {
    System.setProperty("otel.traces.exporter", "nonsense");
    assertThatThrownBy(Tracing::byEnvironment)
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.CONFIGURATION))
        .hasMessageContaining("nonsense");
  }
}
