package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfigDiffTest {
  private static final String RUNNING =
      """
      queues:
        a.b:
          queue: a
          activities:
            t.x: {kind: pure, handler: {class: a.B}}
            gone: {kind: pure, handler: {class: a.B}}
        a: {queue: b, activities: {t: {kind: pure, handler: {class: a.B}}}}
      """;

  @Test
  void nothingChangesNothing() {
    FencepostConfig running = config(RUNNING);
    ConfigDiff diff = ConfigDiff.between(running, config(RUNNING));

    assertThat(diff.applied()).isEmpty();
    assertThat(diff.needRestart()).isEmpty();
    assertThat(diff.config()).isEqualTo(running);
  }

  @Test
  void paceAndLimitsChangeWhileRunning() {
    FencepostConfig fresh =
        config(
            """
            relay: {poll: {min: 5ms, max: 1s}}
            queues:
              a.b:
                queue: a
                prefetch: 300
                concurrency: 20
                activities:
                  t.x:
                    kind: pure
                    handler: {class: a.B}
                    concurrency: 10
                    limits: {soft: 1s, hard: 2s}
                    progress-timeout: 1s
                    retry: {max-retries: 9}
                    retry-budget: {ratio: 0.5}
                  gone: {kind: pure, handler: {class: a.B}, concurrency: 64}
              a: {queue: b, activities: {t: {kind: pure, handler: {class: a.B}}}}
            """);

    ConfigDiff diff = ConfigDiff.between(config(RUNNING), fresh);

    assertThat(diff.config()).isEqualTo(fresh);
    assertThat(diff.needRestart()).isEmpty();
    assertThat(diff.applied())
        .containsExactly(
            "relay.poll.min",
            "relay.poll.max",
            "queues.a.b.prefetch",
            "queues.a.b.concurrency",
            "queues.a.b.activities.t.x.concurrency",
            "queues.a.b.activities.t.x.limits.soft",
            "queues.a.b.activities.t.x.limits.hard",
            "queues.a.b.activities.t.x.progress-timeout",
            "queues.a.b.activities.t.x.retry.max-retries",
            "queues.a.b.activities.t.x.retry.max-attempts",
            "queues.a.b.activities.t.x.retry-budget.ratio",
            "queues.a.b.activities.t.x.retry-budget.min-per-second");
  }

  @Test
  void theRestIsNamedAndKeepsItsRunningValue() {
    FencepostConfig running = config(RUNNING);
    FencepostConfig fresh =
        config(
            """
            database: {pool-size: 9}
            relay: {window: 5, lease: {ttl: 20s}}
            admin: {token: secret}
            queues:
              a.b:
                queue: other
                activities:
                  t.x: {kind: idempotent, handler: {class: a.C}, lease: {ttl: 60s}}
                  new: {kind: pure, handler: {class: a.B}}
              c: {queue: c, activities: {t: {kind: pure, handler: {class: a.B}}}}
            """);

    ConfigDiff diff = ConfigDiff.between(running, fresh);

    assertThat(diff.config()).isEqualTo(running);
    assertThat(diff.applied()).isEmpty();
    assertThat(diff.needRestart())
        .containsExactly(
            "database.pool-size",
            "relay.window",
            "relay.lease.ttl",
            "queues.a.b.queue",
            "queues.a.b.activities.t.x.kind",
            "queues.a.b.activities.t.x.handler",
            "queues.a.b.activities.t.x.lease.ttl",
            "queues.a.b.activities.gone",
            "queues.a",
            "admin.token",
            "queues.a.b.activities.new",
            "queues.c");
  }

  @Test
  void aLimitThatNeedsALongerBrokerTimeoutWaitsForTheRestartWithIt() {
    FencepostConfig running = config(RUNNING);
    FencepostConfig fresh =
        config(
            """
            broker: {consumer-timeout: 2h}
            queues:
              a.b:
                queue: a
                activities:
                  t.x: {kind: pure, handler: {class: a.B}, limits: {hard: 1h}}
                  gone: {kind: pure, handler: {class: a.B}, limits: {hard: 1m}}
              a: {queue: b, activities: {t: {kind: pure, handler: {class: a.B}}}}
            """);

    ConfigDiff diff = ConfigDiff.between(running, fresh);

    assertThat(diff.applied()).containsExactly("queues.a.b.activities.gone.limits.hard");
    assertThat(diff.needRestart())
        .containsExactly("broker.consumer-timeout", "queues.a.b.activities.t.x.limits.hard");
    assertThat(diff.config().queues().get("a.b").activities().get("t.x").timing().hard())
        .isEqualTo(Duration.ofSeconds(20));
  }

  private static FencepostConfig config(String yaml) {
    return ConfigLoader.parse(yaml, Map.of());
  }
}
