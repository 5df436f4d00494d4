package dev.fencepost.tracing;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.relay.Publisher;
import dev.fencepost.worker.HandlerSource;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Spans around what is published and what is run; {@link #off} leaves both as they are. */
public final class Tracing {

  private static final String SCOPE = "dev.fencepost";

  /** The standard variables {@code OTEL_…} say otherwise. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "otel.service.name", "fencepost",
          "otel.traces.exporter", "otlp",
          "otel.metrics.exporter", "none",
          "otel.logs.exporter", "none",
          // The sender on board is the JDK's own HTTP client, which speaks no gRPC.
          "otel.exporter.otlp.protocol", "http/protobuf");

  private final @Nullable OpenTelemetrySdk sdk;
  private final @Nullable Tracer tracer;
  private volatile @Nullable TracedHandlers handlers;

  private Tracing(@Nullable OpenTelemetrySdk sdk) {
    this.sdk = sdk;
    this.tracer = sdk == null ? null : sdk.getTracer(SCOPE);
  }

  /** No traces. */
  public static Tracing off() {
    return new Tracing(null);
  }

  /**
   * Exports as the standard environment variables say: {@code OTEL_EXPORTER_OTLP_ENDPOINT} (default
   * {@code http://localhost:4318}), {@code OTEL_TRACES_SAMPLER}, {@code OTEL_RESOURCE_ATTRIBUTES} …
   *
   * @throws FencepostException of kind CONFIGURATION when one of them is wrong
   */
  public static Tracing byEnvironment() {
    try {
      SdkLog.forward();
      return over(
          AutoConfiguredOpenTelemetrySdk.builder()
              .addPropertiesSupplier(() -> DEFAULTS)
              .disableShutdownHook()
              .build()
              .getOpenTelemetrySdk());
    } catch (ConfigurationException | IllegalStateException e) {
      throw new FencepostException(
          FailureKind.CONFIGURATION, "tracing: " + e.getMessage() + " (OTEL_… variables)", e);
    }
  }

  /** Traces of an SDK that was made elsewhere; it is closed by {@link #close}. */
  public static Tracing over(OpenTelemetrySdk sdk) {
    return new Tracing(sdk);
  }

  /** The same publisher, with a span for each row until its verdict. */
  public Publisher publisher(Publisher publisher) {
    return tracer == null ? publisher : new TracedPublisher(publisher, tracer);
  }

  /** The same handlers, with a span for each run. */
  public HandlerSource handlers(HandlerSource source) {
    if (tracer == null) {
      return source;
    }
    TracedHandlers made = new TracedHandlers(source, tracer);
    handlers = made;
    return made;
  }

  /** After a reload: runs that do not return are ended at the new limits. */
  public void reloaded(FencepostConfig config) {
    TracedHandlers made = handlers;
    if (made != null) {
      made.reloaded(config);
    }
  }

  /** Exports what is left. Never fails. */
  public Future<Void> close() {
    if (sdk == null) {
      return Future.succeededFuture();
    }
    Promise<Void> closed = Promise.promise();
    sdk.shutdown().whenComplete(closed::tryComplete);
    return closed.future();
  }
}
