package dev.fencepost.metrics;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.relay.RelayEvents;
import dev.fencepost.worker.WorkerEvents;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.jmx.JmxConfig;
import io.micrometer.jmx.JmxMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.metrics.MetricsOptions;
import io.vertx.core.spi.VertxMetricsFactory;
import io.vertx.micrometer.Label;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** All metrics of the process. Made before Vert.x, which reports its pools here. */
public final class FencepostMetrics implements AutoCloseable {
  private static final int TTLS_UNTIL_STALE = 3;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final @Nullable JmxMeterRegistry jmx;
  private final Instruments instruments;
  private final RelayMeters relay;
  private final WorkerMeters worker;
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final CompositeMeterRegistry vertxRegistry = new CompositeMeterRegistry();

  /**
   * @param config queues and types become labels; MBeans are registered when {@code metrics.jmx}
   */
  public FencepostMetrics(FencepostConfig config) {
    jmx =
        config.operation().metrics().jmx()
            ? new JmxMeterRegistry(JmxConfig.DEFAULT, Clock.SYSTEM)
            : null;
    instruments = new Instruments(registry, jmx);
    Duration stale = config.relay().lease().ttl().multipliedBy(TTLS_UNTIL_STALE);
    relay = new RelayMeters(instruments, config.relay().lanes(), stale);
    worker = new WorkerMeters(instruments, config.queues());
    vertxRegistry.add(registry);
    if (jmx != null) {
      vertxRegistry.add(jmx);
    }
    bindJvm(registry);
  }

  public RelayEvents relay() {
    return relay;
  }

  public WorkerEvents worker() {
    return worker;
  }

  /** The text that Prometheus scrapes (format 0.0.4). */
  public String scrape() {
    relay.refresh();
    return registry.scrape();
  }

  /** Our own metrics as numbers. */
  public LiveMetrics live() {
    return new LiveSamples(registry, relay::refresh);
  }

  /** To be given to {@code Vertx.builder().withMetrics}, together with {@link #vertxOptions}. */
  public VertxMetricsFactory vertxFactory() {
    return new MicrometerMetricsFactory(vertxRegistry);
  }

  /** Pools only: per-request and per-address metrics would have labels without bound. */
  public MetricsOptions vertxOptions() {
    MicrometerMetricsOptions options =
        new MicrometerMetricsOptions()
            .setEnabled(true)
            .setRegistryName("fencepost-" + UUID.randomUUID())
            .setLabels(EnumSet.of(Label.POOL_TYPE, Label.POOL_NAME));
    Set<MetricsDomain> kept = EnumSet.of(MetricsDomain.NAMED_POOLS);
    EnumSet.complementOf(EnumSet.copyOf(kept)).forEach(options::addDisabledMetricsCategory);
    return options;
  }

  /** Watches the event loops of this Vert.x until it is closed. */
  public Future<Void> watch(Vertx vertx) {
    return LoopLag.watch(vertx, instruments);
  }

  @Override
  public void close() {
    collections.close();
    registry.close();
    if (jmx != null) {
      jmx.close();
    }
  }

  private void bindJvm(MeterRegistry to) {
    new JvmMemoryMetrics().bindTo(to);
    new JvmThreadMetrics().bindTo(to);
    new ProcessorMetrics().bindTo(to);
    new UptimeMetrics().bindTo(to);
    collections.bindTo(to);
  }
}
