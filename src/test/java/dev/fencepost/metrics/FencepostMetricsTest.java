package dev.fencepost.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.WorkerEvents.Outcome;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FencepostMetricsTest {
  private final FencepostMetrics metrics =
      new FencepostMetrics(MetricsFixture.config("metrics: {jmx: false}"));

  @AfterEach
  void close() {
    metrics.close();
  }

  /** Contract §5, name by name: labels besides {@code le}, and what one of each event leaves. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fencepost_relay_published_total|lane=3|10",
        "fencepost_relay_refused_total|reason=unroutable|1",
        "fencepost_relay_confirm_seconds_count||1",
        "fencepost_relay_confirm_seconds_sum||0.003",
        "fencepost_relay_unconfirmed||12",
        "fencepost_relay_oldest_unpublished_age_seconds|lane=3,cause=key_parked|1.5",
        "fencepost_relay_parked||4",
        "fencepost_relay_lanes_owned||2",
        "fencepost_worker_deliveries_total|queue=mail,redelivered=true|1",
        "fencepost_worker_deliveries_total|queue=mail,redelivered=false|1",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=dispatched|1",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=duplicate|0",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=retry_scheduled|0",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=dead_lettered|0",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=manual_review|0",
        "fencepost_worker_activities_total|queue=mail,type=order.placed,outcome=lease_lost|0",
        "fencepost_worker_run_seconds_count|queue=mail,type=order.placed|1",
        "fencepost_worker_run_seconds_sum|queue=mail,type=order.placed|0.03",
        "fencepost_worker_delivery_to_ack_seconds_sum|queue=mail|0.04",
        "fencepost_worker_in_flight|queue=mail,type=order.placed|9",
        "fencepost_worker_retries_total|queue=mail,type=order.placed|1",
        "fencepost_worker_takeovers_total|queue=mail,type=order.placed,decision=manual_review|1",
        "fencepost_worker_stalled|queue=mail,type=order.placed|1",
        "fencepost_worker_leaked_slots|queue=mail,type=order.placed|2",
        "fencepost_worker_lease_lost_total|queue=mail,type=order.placed|1",
        "fencepost_worker_retry_budget_denied_total|queue=mail,type=order.placed|1",
        "fencepost_worker_amplification|queue=mail,type=order.placed|1.5",
        "fencepost_worker_starts_total|queue=mail,type=order.placed,first=true|2",
        "fencepost_dead_letters_total|queue=mail,reason=poison_message|1",
        "fencepost_reviews_open|queue=mail|6",
        "fencepost_worker_oldest_expired_lease_age_seconds|queue=mail|2.5",
      })
  void everyNameOfTheContractIsScraped(String name, String labels, double value) {
    MetricsFixture.oneOfEach(metrics);
    Scrape scrape = Scrape.of(metrics.scrape());
    String[] pairs = labels == null ? new String[0] : labels.split("[=,]");

    assertThat(scrape.value(name, pairs)).isEqualTo(value);
    Set<String> keys = scrape.named(name).get(0).labels().keySet();
    assertThat(keys).hasSize(pairs.length / 2);
    assertThat(live(name, pairs)).isEqualTo(value);
  }

  @Test
  void timersAreHistograms() {
    MetricsFixture.oneOfEach(metrics);
    Scrape scrape = Scrape.of(metrics.scrape());

    String run = "fencepost_worker_run_seconds_bucket";
    assertThat(scrape.value(run, "type", "order.placed", "le", "0.025")).isZero();
    assertThat(scrape.value(run, "type", "order.placed", "le", "0.05")).isEqualTo(1);
    assertThat(scrape.value(run, "type", "order.placed", "le", "+Inf")).isEqualTo(1);
    assertThat(scrape.value("fencepost_relay_confirm_seconds_bucket", "le", "0.005")).isEqualTo(1);
    assertThat(scrape.names()).contains("fencepost_worker_delivery_to_ack_seconds_bucket");
  }

  @Test
  void whatTheConfigurationDoesNotNameIsOther() {
    for (int i = 0; i < 1_000; i++) {
      metrics.worker().settled("mail", "type-" + i, Outcome.DISPATCHED);
      metrics.worker().settled("queue-" + i, "x", Outcome.DISPATCHED);
      metrics.worker().delivered("queue-" + i, false);
      metrics.worker().takenOver("mail", "type-" + i, RecoveryDecision.WAIT);
    }
    metrics.relay().published(-1, 1);
    metrics.relay().published(64, 1);
    Scrape scrape = Scrape.of(metrics.scrape());

    String name = "fencepost_worker_activities_total";
    assertThat(scrape.value(name, "queue", "mail", "type", "other", "outcome", "dispatched"))
        .isEqualTo(1_000);
    assertThat(scrape.value(name, "queue", "other", "type", "other", "outcome", "dispatched"))
        .isEqualTo(1_000);
    assertThat(scrape.named(name)).hasSize(4 * Outcome.values().length);
    assertThat(scrape.named("fencepost_relay_published_total")).hasSize(8);
  }

  @Test
  void nothingIsOtherUntilItIsNeeded() {
    assertThat(metrics.scrape()).doesNotContain("\"other\"");
  }

  @Test
  void aLaneIsShownOnceUnderTheCauseThatHoldsNow() {
    String name = "fencepost_relay_oldest_unpublished_age_seconds";
    metrics.relay().lag(1, Duration.ofSeconds(5), LagCause.BROKER_DOWN);
    metrics.relay().lag(1, Duration.ofSeconds(6), LagCause.BROKER_DOWN);
    metrics.relay().lag(2, Duration.ZERO, LagCause.NONE);
    metrics.relay().lag(1, Duration.ofSeconds(7), LagCause.TRANSACTION_INVISIBLE);

    assertThat(Scrape.of(metrics.scrape()).named(name))
        .containsExactlyInAnyOrder(
            new Scrape.Sample(name, labels("cause", "transaction_invisible", "lane", "1"), 7),
            new Scrape.Sample(name, labels("cause", "none", "lane", "2"), 0));
  }

  @Test
  void ofALaneThatIsNotOwnedAnyMoreNothingIsLeft() {
    MetricsFixture.oneOfEach(metrics);
    metrics.relay().lag(4, Duration.ofSeconds(9), LagCause.BROKER_BLOCKED);
    metrics.relay().lanesOwned(Set.of(4));
    Scrape scrape = Scrape.of(metrics.scrape());

    assertThat(scrape.value("fencepost_relay_lanes_owned")).isEqualTo(1);
    assertThat(scrape.value("fencepost_relay_unconfirmed")).isEqualTo(5);
    assertThat(scrape.named("fencepost_relay_oldest_unpublished_age_seconds"))
        .extracting(sample -> sample.labels().get("lane"))
        .containsExactly("4");
  }

  @Test
  void aLaneOfWhichNothingIsHeardIsDropped() {
    String name = "fencepost_relay_oldest_unpublished_age_seconds";
    try (FencepostMetrics quick =
        new FencepostMetrics(
            MetricsFixture.config(
                "relay: {lease: {ttl: 30ms, renew-every: 10ms}}\nmetrics: {jmx: false}"))) {
      quick.relay().lag(1, Duration.ofSeconds(5), LagCause.NONE);
      assertThat(quick.scrape()).contains(name + "{");
      Await.until("dropped", () -> !quick.scrape().contains(name + "{"));
      quick.relay().lag(1, Duration.ofSeconds(2), LagCause.NONE);
      assertThat(Scrape.of(quick.scrape()).value(name, "lane", "1")).isEqualTo(2);
    }
  }

  @Test
  void amplificationIsOneUntilSomethingIsRepeated() {
    String name = "fencepost_worker_amplification";
    assertThat(Scrape.of(metrics.scrape()).value(name, "type", "order.audit")).isEqualTo(1);
    metrics.worker().started("mail", "order.audit", false);
    metrics.worker().started("mail", "order.audit", false);
    assertThat(Scrape.of(metrics.scrape()).value(name, "type", "order.audit")).isEqualTo(2);
  }

  @Test
  void poolsEventLoopsAndTheJvmAreThere() {
    Vertx vertx =
        Vertx.builder()
            .with(new VertxOptions().setMetricsOptions(metrics.vertxOptions()))
            .withMetrics(metrics.vertxFactory())
            .build();
    try {
      Await.result(metrics.watch(vertx));
      Await.result(vertx.executeBlocking(() -> 1));
      String done = "vertx_pool_completed_total";
      Await.until("the pool's work is counted", () -> pool(done, "vert.x-worker-thread") == 1);
      Scrape scrape = Scrape.of(metrics.scrape());

      assertThat(scrape.named("fencepost_event_loop_lag_seconds"))
          .hasSize(VertxOptions.DEFAULT_EVENT_LOOP_POOL_SIZE);
      assertThat(scrape.names())
          .contains(
              "jvm_memory_used_bytes",
              "process_cpu_usage",
              "process_uptime_seconds",
              "jvm_threads_live_threads");
      assertThat(scrape.names()).noneMatch(n -> n.startsWith("vertx_http"));
    } finally {
      Await.result(vertx.close());
    }
  }

  @Test
  void aBlockedEventLoopIsSeen() {
    Vertx vertx = Vertx.vertx();
    try {
      Await.result(metrics.watch(vertx));
      long until = System.nanoTime() + Duration.ofMillis(1_600).toNanos();
      vertx.runOnContext(
          v -> {
            while (System.nanoTime() < until) {
              Thread.onSpinWait();
            }
          });
      Await.until(
          "the lag shows",
          () ->
              Scrape.of(metrics.scrape()).named("fencepost_event_loop_lag_seconds").stream()
                  .anyMatch(sample -> sample.value() > 0.3));
    } finally {
      Await.result(vertx.close());
    }
  }

  private double pool(String name, String pool) {
    return Scrape.of(metrics.scrape()).value(name, "pool_name", pool);
  }

  private double live(String name, String[] pairs) {
    return metrics.live().samples().stream()
        .filter(sample -> sample.name().equals(name))
        .filter(sample -> sample.labels().equals(labels(pairs)))
        .mapToDouble(LiveMetrics.Sample::value)
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + Arrays.toString(pairs)));
  }

  private static Map<String, String> labels(String... pairs) {
    Map<String, String> labels = new java.util.LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      labels.put(pairs[i], pairs[i + 1]);
    }
    return labels;
  }
}
