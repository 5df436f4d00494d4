package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.relay.RelayEvents;
import dev.fencepost.worker.WorkerEvents;
import java.util.List;
import java.util.function.Supplier;

/**
 * What the process tells of itself.
 *
 * @param scrape the text of {@code /metrics}
 */
record Telemetry(
    RelayEvents relay, WorkerEvents worker, Supplier<String> scrape, LiveMetrics live) {

  static Telemetry of(FencepostConfig config) {
    return new Telemetry(
        Missing.unheard(RelayEvents.class),
        Missing.unheard(WorkerEvents.class),
        () -> "",
        List::of);
  }
}
