package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fencepost.config.ActivityConfig.Handler;
import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.model.FailureKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigLoaderTest {

  @Test
  void theEnvironmentIsPutInAnywhere() {
    FencepostConfig config =
        ConfigLoader.parse(
            """
            database: {uris: ["postgresql://${USER}:${PASS:none}@${HOST:localhost}/app"], pool-size: "${POOL}"}
            relay: {enabled: "${RELAY:false}", poll: {max: "${MAX:1}s"}}
            admin: {token: "a$${b}${EMPTY:}"}
            """,
            Map.of("USER", "ann", "POOL", "12", "EMPTY", "", "HOST", "db"));

    assertThat(config.database().uris()).containsExactly("postgresql://ann:none@db/app");
    assertThat(config.database().poolSize()).isEqualTo(12);
    assertThat(config.relay().enabled()).isFalse();
    assertThat(config.relay().paging().pollMax()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.operation().admin().token()).isEqualTo("a${b}");
  }

  @Test
  void whatAVariableHoldsIsNotReadAgainButItsDefaultIs() {
    FencepostConfig config =
        ConfigLoader.parse(
            "admin: {token: \"${A}-${B:${C:x}}\"}", Map.of("A", "${B}", "UNUSED", "y"));

    assertThat(config.operation().admin().token()).isEqualTo("${B}-x");
  }

  @Test
  void defaultsReadTheEnvironmentToo() {
    FencepostConfig config =
        ConfigLoader.parse(
            "",
            Map.of(
                "FENCEPOST_DATABASE_URI", "postgresql://db/app",
                "FENCEPOST_BROKER_URI", "amqps://mq/",
                "FENCEPOST_ADMIN_TOKEN", "t0ken"));

    assertThat(config.database().uris()).containsExactly("postgresql://db/app");
    assertThat(config.broker().uris()).containsExactly("amqps://mq/");
    assertThat(config.operation().admin().token()).isEqualTo("t0ken");
  }

  @Test
  void whatIsLeftOutFollowsItsNeighbours() {
    FencepostConfig config =
        ConfigLoader.parse(
            """
            relay: {lease: {ttl: 3s}, poll: {max: 1ms}}
            queues:
              a:
                queue: a
                prefetch: 10
                activities:
                  t:
                    kind: pure
                    handler: {class: a.B}
                    lease: {ttl: 6s}
                    limits: {hard: 4s}
                    retry: {max-retries: 7, base-delay: 2h}
            """,
            Map.of());

    QueueConfig queue = config.queues().get("a");
    ActivityConfig activity = queue.activities().get("t");
    assertThat(config.relay().lease().renewEvery()).isEqualTo(Duration.ofSeconds(1));
    assertThat(config.relay().paging().pollMin()).isEqualTo(Duration.ofMillis(1));
    assertThat(queue.intake().concurrency()).isEqualTo(10);
    assertThat(activity.concurrency()).isEqualTo(10);
    assertThat(activity.timing().lease().renewEvery()).isEqualTo(Duration.ofSeconds(2));
    assertThat(activity.timing().soft()).isEqualTo(Duration.ofSeconds(3));
    assertThat(activity.retry().maxAttempts()).isEqualTo(8);
    assertThat(activity.retry().maxDelay()).isEqualTo(Duration.ofHours(2));
    assertThat(activity.timing().progress()).isNull();
    assertThat(activity.retryBudget()).isNull();
    assertThat(activity.handler()).isEqualTo(new Handler.JavaClass("a.B"));
  }

  @Test
  void everyFaultIsToldAtOnceWithItsPath() {
    List<Fault> faults =
        faults(
            """
            database: {schema: My-Schema}
            relay: {lanes: 0, lease: {ttl: 9s, renew-every: 4s}}
            queues:
              notifications:
                prefetch: 5
                concurrency: 6
                activities:
                  order.placed:
                    kind: idempotent
                    handler: {http: {url: "http://localhost/x"}}
                    lease: {ttl: 30s, renew-every: 20s}
                    retry: {base-delay: 0s}
            logg: {format: text}
            """);

    assertThat(faults)
        .extracting(Fault::path)
        .containsExactly(
            "database.schema",
            "relay.lanes",
            "relay.lease.renew-every",
            "queues.notifications.queue",
            "queues.notifications.concurrency",
            "queues.notifications.activities.order.placed.concurrency",
            "queues.notifications.activities.order.placed.lease.renew-every",
            "queues.notifications.activities.order.placed.retry.base-delay",
            "logg");
    assertThat(faults.get(6))
        .hasToString(
            "queues.notifications.activities.order.placed.lease.renew-every: 20s is more than a"
                + " third of ttl 30s; allowed: at most 10s");
  }

  @Test
  void oneMistakeIsToldOnce() {
    assertThat(faults("relay: {lease: {ttl: ever, renew-every: 8s}, poll: {min: x, max: 1ms}}"))
        .extracting(Fault::path)
        .containsExactly("relay.poll.min", "relay.lease.ttl");
  }

  @Test
  void noFaultHoldsASecret() {
    String yaml =
        """
        database: {uris: ["mysql://u:S3CRET@h/db", "postgresql://u:S3CRET@/x", "postgresql://u:S3C#S3CRET/@h/x",
                          "postgresql://h/x?user=a&password=S3CRET#", "postgresql:u:S3CRET@h"]}
        broker: {uris: ["amqp://u:S3CRET@h:99999/"], management-uri: "ftp://u:S3CRET@h"}
        admin: {token: "S3CRET with a space", host: [S3CRET], tokn: S3CRET}
        queues:
          a:
            queue: a
            activities:
              b:
                kind: queryable
                handler:
                  http:
                    url: "ftp://u:S3CRET@h/"
                    secret: "whsec_S3CRET!"
                    probe: {url: "http://u:S3CRET@h/?token=S3CRET"}
              c: {kind: pure, handler: {http: S3CRET}}
        """;

    ConfigFaults refused =
        catchThrowableOfType(ConfigFaults.class, () -> ConfigLoader.parse(yaml, Map.of()));

    assertThat(refused.faults()).hasSizeGreaterThan(12);
    assertThat(refused).hasMessageNotContainingAny("S3C", "u:");
    assertThat(refused.kind()).isEqualTo(FailureKind.CONFIGURATION);
  }

  @Test
  void brokenYamlIsToldByLineWithoutItsText() {
    List<Fault> faults = faults("admin:\n  token: \"S3CRET\n  host: [a\n");

    assertThat(faults).hasSize(1);
    assertThat(faults.get(0).path()).startsWith("line ");
    assertThat(faults.get(0).problem()).startsWith("is not YAML: ").doesNotContain("S3CRET");
  }

  @Test
  void theRecordsDoNotShowTheirSecrets() {
    FencepostConfig config =
        ConfigLoader.parse(
            """
            database: {uris: ["postgresql://u:S3CRET@h/db?sslpassword=S3CRET"]}
            broker: {uris: ["amqp://u:S3CRET@h/"], management-uri: "http://u:S3CRET@h"}
            admin: {token: S3CRET}
            queues:
              a:
                queue: a
                activities:
                  b:
                    kind: queryable
                    handler:
                      http:
                        url: "https://u:S3CRET@h/x"
                        secret: "S3CRET"
                        probe: {url: "http://u:S3CRET@h/{event_id}"}
            """,
            Map.of());

    assertThat(config.toString()).doesNotContain("S3CRET").contains("***@h/db", "queue=a");
  }

  @Test
  void aFileThatCannotBeRead(@TempDir Path folder) {
    assertThatThrownBy(() -> ConfigLoader.load(folder.resolve("none.yaml"), Map.of()))
        .isInstanceOf(ConfigFaults.class)
        .hasMessageContaining("none.yaml: there is no such file");
    assertThatThrownBy(() -> ConfigLoader.load(folder, Map.of()))
        .isInstanceOf(ConfigFaults.class)
        .hasMessageContaining("cannot be read");
  }

  private static List<Fault> faults(String yaml) {
    ConfigFaults refused =
        catchThrowableOfType(ConfigFaults.class, () -> ConfigLoader.parse(yaml, Map.of()));
    return refused.faults();
  }
}
