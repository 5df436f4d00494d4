package dev.fencepost.admin;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.Readiness;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the HTTP side is made of. */
public record AdminParts(
    FencepostConfig.Admin config, Operations operations, Readiness readiness, Metrics metrics) {

  /**
   * @param scrape the text of {@code /metrics}, called on a worker thread; without it there is
   *     nothing at that path
   * @param open {@code metrics.public}
   */
  public record Metrics(@Nullable Supplier<String> scrape, LiveMetrics live, boolean open) {}
}
