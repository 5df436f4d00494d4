package dev.fencepost.config;

import dev.fencepost.model.ActivityKind;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One activity type of a queue. */
public record ActivityConfig(
    String type,
    ActivityKind kind,
    Handler handler,
    int concurrency,
    Timing timing,
    Retry retry,
    @Nullable RetryBudget retryBudget) {

  /** Where the work is done. */
  public sealed interface Handler {
    /**
     * @param probe URL template with {@code {event_id}}, or null
     */
    record Http(URI url, @Nullable String secret, @Nullable String probe) implements Handler {}

    record Sql(String statement) implements Handler {}

    record JavaClass(String name) implements Handler {}
  }

  /**
   * @param progress silence after which a run that reports progress is stalled; null: off
   */
  public record Timing(
      FencepostConfig.LeaseTimes lease,
      Duration soft,
      Duration hard,
      @Nullable Duration progress) {}

  public record Retry(
      int maxRetries,
      Duration baseDelay,
      double multiplier,
      Duration maxDelay,
      double jitter,
      int maxAttempts) {}

  /** Retries of the fleet stay below ratio × first starts, plus a floor per second. */
  public record RetryBudget(double ratio, double minPerSecond) {}
}
