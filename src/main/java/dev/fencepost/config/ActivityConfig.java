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
     * @param url scheme http or https, with a host
     * @param secret signs each request (Standard Webhooks); null: requests are not signed
     * @param probe URL template with {@code {event_id}}, or null
     */
    record Http(URI url, @Nullable String secret, @Nullable String probe) implements Handler {
      @Override
      public String toString() {
        String ask = probe == null ? "" : ", probe=" + Redaction.uri(probe);
        return "Http[url="
            + Redaction.uri(url.toString())
            + ", secret="
            + Redaction.secret(secret != null)
            + ask
            + "]";
      }
    }

    /**
     * @param statement with named parameters, see {@link SqlTemplate}
     */
    record Sql(String statement) implements Handler {}

    /**
     * @param name a class on the class path that implements one of the handler interfaces
     */
    record JavaClass(String name) implements Handler {}
  }

  /**
   * @param soft when the handler is told to end well; below {@code hard}
   * @param hard when its outcome is unknown
   * @param progress silence after which a run that reports progress is stalled; null: off
   */
  public record Timing(
      FencepostConfig.LeaseTimes lease,
      Duration soft,
      Duration hard,
      @Nullable Duration progress) {}

  /**
   * @param maxRetries retries after transient failures; 0: none
   * @param jitter part of the delay that is drawn at random, 0 to 1
   * @param maxAttempts starts, crashes and timeouts included
   */
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
