package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.ServiceProcess;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class DemoIT {

  private static final Duration LONG = Duration.ofSeconds(200);

  @Test
  void whatCameOfItIsWhatMustComeOfIt() {
    try (ServiceProcess demo =
        ServiceProcess.start(Main.class, "demo", "--events", "600", "--json")) {
      int code = demo.awaitExit(LONG);
      List<String> results = demo.lines("^\\{\"expected\"");
      assertThat(results).as(demo.log()).hasSize(1);
      JsonObject result = new JsonObject(results.get(0));
      assertThat(result.getJsonObject("actual")).isEqualTo(result.getJsonObject("expected"));
      assertThat(result.getBoolean("agree")).isTrue();
      assertThat(code).isZero();
      for (String kind :
          List.of(
              "events_committed_twice",
              "retries",
              "takeovers",
              "dead_poison_message",
              "dead_permanent_failure",
              "dead_retries_exhausted",
              "manual_review",
              "parked")) {
        assertThat(result.getJsonObject("actual").getLong(kind)).as(kind).isPositive();
      }
    }
  }

  @Test
  void tooFewEventsAreRefused() {
    try (ServiceProcess demo = ServiceProcess.start(Main.class, "demo", "--events", "7")) {
      assertThat(demo.awaitExit(LONG)).isEqualTo(2);
      assertThat(demo.log()).contains("--events 7: at least 100");
    }
  }
}
