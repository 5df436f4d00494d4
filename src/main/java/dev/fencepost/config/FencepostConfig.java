package dev.fencepost.config;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The whole configuration file (contract §3). */
public record FencepostConfig(
    Database database,
    Broker broker,
    Relay relay,
    Worker worker,
    Map<String, QueueConfig> queues,
    Operation operation) {

  /**
   * @param uris {@code postgresql://user:password@host:port/database?sslmode=…}, several of which
   *     the writable one is used
   */
  public record Database(List<String> uris, String schema, int poolSize) {
    @Override
    public String toString() {
      List<String> shown = uris.stream().map(Redaction::uri).toList();
      return "Database[uris=" + shown + ", schema=" + schema + ", poolSize=" + poolSize + "]";
    }
  }

  /**
   * @param uris of one cluster, tried in turn
   */
  public record Broker(List<String> uris, @Nullable URI managementUri, Duration consumerTimeout) {
    @Override
    public String toString() {
      String management = managementUri == null ? "null" : Redaction.uri(managementUri.toString());
      return "Broker[uris="
          + uris.stream().map(Redaction::uri).toList()
          + ", managementUri="
          + management
          + ", consumerTimeout="
          + consumerTimeout
          + "]";
    }
  }

  public record Relay(
      boolean enabled,
      int lanes,
      Ordering ordering,
      Paging paging,
      LeaseTimes lease,
      Duration retention,
      Limits limits) {

    public enum Ordering {
      KEY,
      PIPELINED
    }

    /**
     * @param size rows a page
     * @param window unconfirmed messages a lane may have
     * @param windowBytes unconfirmed body bytes a lane may have
     */
    public record Paging(
        int size, int window, long windowBytes, Duration pollMin, Duration pollMax) {}

    public record Limits(
        long maxMessageSize,
        Duration confirmTimeout,
        Duration parkedBackoffBase,
        Duration parkedBackoffMax,
        int parkedMaxRows) {}
  }

  public record LeaseTimes(Duration ttl, Duration renewEvery) {}

  public record Worker(
      boolean enabled,
      int poolSize,
      Duration shutdownDeadline,
      Duration sweepEvery,
      Duration unknownTypeAfter,
      Duration receiptRetention) {}

  /** What the people who run it set: admin, metrics, tracing, log. */
  public record Operation(Admin admin, Metrics metrics, boolean tracing, LogFormat log) {}

  /**
   * @param token empty when none is set
   */
  public record Admin(String host, int port, String token) {
    @Override
    public String toString() {
      String shown = Redaction.secret(!token.isEmpty());
      return "Admin[host=" + host + ", port=" + port + ", token=" + shown + "]";
    }
  }

  /**
   * @param open {@code metrics.public}: /metrics answers without the token
   */
  public record Metrics(boolean prometheus, boolean jmx, boolean open) {}

  public enum LogFormat {
    TEXT,
    JSON
  }
}
