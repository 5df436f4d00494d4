package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.metrics.FencepostMetrics;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.relay.RelayEvents;
import dev.fencepost.tracing.Tracing;
import dev.fencepost.worker.WorkerEvents;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the process tells of itself. */
final class Telemetry {
  private static final Logger LOG = LoggerFactory.getLogger(Telemetry.class);

  private final FencepostMetrics metrics;
  private final boolean prometheus;
  private final Tracing tracing;

  private Telemetry(FencepostMetrics metrics, boolean prometheus, Tracing tracing) {
    this.metrics = metrics;
    this.prometheus = prometheus;
    this.tracing = tracing;
  }

  static Telemetry of(FencepostConfig config) {
    return of(config, config.operation().tracing() ? Tracing.byEnvironment() : Tracing.off());
  }

  static Telemetry of(FencepostConfig config, Tracing tracing) {
    return new Telemetry(
        new FencepostMetrics(config), config.operation().metrics().prometheus(), tracing);
  }

  /** A Vert.x of our own, whose pools and event loops are measured too. */
  Vertx vertx() {
    Vertx vertx =
        Vertx.builder()
            .with(new VertxOptions().setMetricsOptions(metrics.vertxOptions()))
            .withMetrics(metrics.vertxFactory())
            .build();
    metrics
        .watch(vertx)
        .onFailure(failure -> LOG.warn("the event loops are not watched: {}", failure.toString()));
    return vertx;
  }

  RelayEvents relay() {
    return metrics.relay();
  }

  WorkerEvents worker() {
    return metrics.worker();
  }

  /** The text of {@code /metrics}; null when Prometheus is turned off. */
  @Nullable Supplier<String> scrape() {
    return prometheus ? metrics::scrape : null;
  }

  LiveMetrics live() {
    return metrics.live();
  }

  Tracing tracing() {
    return tracing;
  }

  /** Takes the MBeans away and exports what is left; called when nothing is told any more. */
  Future<Void> close() {
    metrics.close();
    return tracing.close();
  }
}
