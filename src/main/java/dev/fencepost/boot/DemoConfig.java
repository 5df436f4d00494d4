package dev.fencepost.boot;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.embedded.DemoPlan;
import java.util.Map;

/**
 * The demo's configuration: what a user would write, with short delays so that retries and a
 * takeover can be watched.
 */
final class DemoConfig {

  private static final String SERVERS =
      """
      database: {uris: ["%s"], pool-size: 8}
      broker: {uris: ["%s"]}
      relay: {lanes: 4, lease: {ttl: 3s, renew-every: 1s}}
      worker: {shutdown-deadline: 5s, sweep-every: 500ms, pool: {size: 16}}
      admin: {port: %d}
      metrics: {jmx: false}
      """;

  private static final String QUEUES =
      """
      queues:
        bookings:
          queue: demo.bookings
          declare:
            type: classic
            bind: [{exchange: demo, exchange-type: topic, routing-key: demo.booked}]
          activities:
            demo.booked:
              kind: effect
              handler:
                sql: "insert into demo.effects (event_id, what) values (:event_id, :type)"
        notifications:
          queue: demo.notifications
          declare:
            type: classic
            bind:
              - {exchange: demo, exchange-type: topic, routing-key: demo.notified}
              - {exchange: demo, exchange-type: topic, routing-key: demo.charged}
          prefetch: 128
          concurrency: 16
          activities:
            demo.notified: {kind: idempotent, %1$s}
            demo.charged: {kind: irreversible, %1$s}
      """;

  private static final String RENDERING =
      """
      queues:
        rendering:
          queue: demo.rendering
          declare:
            type: classic
            bind: [{exchange: demo, exchange-type: topic, routing-key: "doomed.#"}]
          prefetch: 32
          concurrency: 16
          activities:
            demo.rendered: {kind: idempotent, %1$s}
            demo.charged: {kind: irreversible, %1$s}
      """;

  private static final String ACTIVITY =
      "handler: {class: dev.fencepost.embedded.DemoHandler}, concurrency: 16,"
          + " lease: {ttl: 3s, renew-every: 1s}, limits: {soft: 10s, hard: 15s},"
          + " retry: {max-retries: "
          + DemoPlan.MAX_RETRIES
          + ", base-delay: 200ms}";

  private final String database;
  private final String broker;
  private final int adminPort;

  DemoConfig(String database, String broker, int adminPort) {
    this.database = database;
    this.broker = broker;
    this.adminPort = adminPort;
  }

  /** Relay and the queues whose worker lives. */
  FencepostConfig living() {
    return parse(QUEUES);
  }

  /** The queue whose first worker is killed. */
  FencepostConfig rendering() {
    return parse(RENDERING);
  }

  private FencepostConfig parse(String queues) {
    String servers = SERVERS.formatted(database, broker, adminPort);
    return ConfigLoader.parse(servers + queues.formatted(ACTIVITY), Map.of());
  }
}
