package dev.fencepost.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.model.LagCause;
import dev.fencepost.testing.Await;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.Test;

/** The MBeans, seen by a client that is connected over RMI as a console would be. */
class JmxMetricsTest {
  private static final ObjectName OURS = name("metrics:name=fencepost*,*");

  @Test
  @SuppressWarnings("BanJNDI") // a client of our own server, as a console is
  void aRemoteClientSeesEveryMetricWithItsValue() throws Exception {
    FencepostMetrics metrics = new FencepostMetrics(MetricsFixture.config(""));
    JMXConnectorServer server =
        JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("service:jmx:rmi://127.0.0.1"),
            null,
            ManagementFactory.getPlatformMBeanServer());
    server.start();
    try (JMXConnector connector = JMXConnectorFactory.connect(server.getAddress())) {
      MetricsFixture.oneOfEach(metrics);
      MBeanServerConnection client = connector.getMBeanServerConnection();

      assertThat(metricsIn(client))
          .containsExactlyInAnyOrder(
              "fencepostRelayPublished",
              "fencepostRelayRefused",
              "fencepostRelayConfirm",
              "fencepostRelayUnconfirmed",
              "fencepostRelayOldestUnpublishedAge",
              "fencepostRelayParked",
              "fencepostRelayLanesOwned",
              "fencepostWorkerDeliveries",
              "fencepostWorkerActivities",
              "fencepostWorkerRun",
              "fencepostWorkerDeliveryToAck",
              "fencepostWorkerInFlight",
              "fencepostWorkerRetries",
              "fencepostWorkerTakeovers",
              "fencepostWorkerStalled",
              "fencepostWorkerLeakedSlots",
              "fencepostWorkerLeaseLost",
              "fencepostWorkerRetryBudgetDenied",
              "fencepostWorkerAmplification",
              "fencepostWorkerOldestExpiredLeaseAge",
              "fencepostWorkerStarts",
              "fencepostDeadLetters",
              "fencepostReviewsOpen");
      assertThat(value(client, "fencepostRelayPublished.lane.3", "meters", "Count")).isEqualTo(10);
      assertThat(
              value(
                  client,
                  "fencepostWorkerInFlight.queue.mail.type.order.placed",
                  "gauges",
                  "Value"))
          .isEqualTo(9);
      assertThat(value(client, "fencepostRelayConfirm", "timers", "Count")).isEqualTo(1);
      assertThat(
              value(
                  client,
                  "fencepostRelayOldestUnpublishedAge.cause.key_parked.lane.3",
                  "gauges",
                  "Value"))
          .isEqualTo(1.5);
    } finally {
      metrics.close();
      server.stop();
    }
    assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(OURS, null)).isEmpty();
  }

  /** Nobody scrapes: what is read is what there is. */
  @Test
  void ofALaneThatIsNotOwnedAnyMoreNothingIsLeft() throws Exception {
    try (FencepostMetrics metrics =
        new FencepostMetrics(MetricsFixture.config("metrics: {prometheus: false}"))) {
      MetricsFixture.oneOfEach(metrics);
      metrics.relay().lanesOwned(Set.of(4));
      MBeanServerConnection server = ManagementFactory.getPlatformMBeanServer();

      assertThat(metricsIn(server)).doesNotContain("fencepostRelayOldestUnpublishedAge");
      assertThat(value(server, "fencepostRelayUnconfirmed", "gauges", "Value")).isEqualTo(5);
    }
  }

  @Test
  void anAgeThatIsNotRenewedHasNoValue() throws Exception {
    try (FencepostMetrics metrics =
        new FencepostMetrics(
            MetricsFixture.config("relay: {lease: {ttl: 30ms, renew-every: 10ms}}"))) {
      metrics.relay().lag(1, Duration.ofSeconds(5), LagCause.NONE);
      String bean = "fencepostRelayOldestUnpublishedAge.cause.none.lane.1";
      MBeanServerConnection server = ManagementFactory.getPlatformMBeanServer();

      Await.until("stale", () -> Double.isNaN(value(server, bean, "gauges", "Value")));
    }
  }

  @Test
  void typesThatLookAlikeAsMBeansAreNoReasonNotToStart() {
    String types =
        "{'a b': {kind: pure, handler: {class: B}}, a_b: {kind: pure, handler: {class: B}}}";
    try (FencepostMetrics metrics =
        new FencepostMetrics(
            ConfigLoader.parse("queues: {q: {queue: q, activities: " + types + "}}", Map.of()))) {
      metrics.worker().retried("q", "a_b");
      assertThat(
              Scrape.of(metrics.scrape())
                  .value("fencepost_worker_retries_total", "queue", "q", "type", "a_b"))
          .isEqualTo(1);
    }
  }

  @Test
  void noneWhenTurnedOff() {
    try (FencepostMetrics metrics =
        new FencepostMetrics(MetricsFixture.config("metrics: {jmx: false}"))) {
      MetricsFixture.oneOfEach(metrics);
      assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(OURS, null)).isEmpty();
    }
  }

  private static TreeSet<String> metricsIn(MBeanServerConnection client) throws Exception {
    return client.queryNames(OURS, null).stream()
        .map(bean -> bean.getKeyProperty("name").split("\\.")[0])
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static double value(
      MBeanServerConnection client, String bean, String type, String attribute) throws Exception {
    List<ObjectName> found =
        List.copyOf(client.queryNames(name("metrics:name=" + bean + ",type=" + type), null));
    assertThat(found).as(bean).hasSize(1);
    return ((Number) client.getAttribute(found.get(0), attribute)).doubleValue();
  }

  private static ObjectName name(String name) {
    try {
      return new ObjectName(name);
    } catch (javax.management.MalformedObjectNameException e) {
      throw new AssertionError(e);
    }
  }
}
