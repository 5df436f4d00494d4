package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.rabbit.QueueContract.Facts;
import dev.fencepost.rabbit.QueueContract.Findings;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueContractTest {

  private static final BrokerFeatures OLD = new BrokerFeatures("RabbitMQ", "3.10.8");
  private static final BrokerFeatures NEW = new BrokerFeatures("RabbitMQ", "4.1.0");
  private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

  @Test
  void ourOwnDeclarationsPass() {
    assertThat(look(OLD, facts("quorum", Map.of(), Map.of())).faults()).isEmpty();
    assertThat(look(NEW, facts("quorum", Map.of("x-delivery-limit", -1), Map.of())).faults())
        .isEmpty();
    assertThat(look(NEW, facts("classic", Map.of(), Map.of())).faults()).isEmpty();
  }

  @Test
  void aDeliveryLimitIsRefusedWithItsRemedy() {
    assertThat(look(NEW, facts("quorum", Map.of(), Map.of())).faults())
        .singleElement()
        .asString()
        .contains("'app.q'", "delivery limit of 20", "-1");
    assertThat(look(OLD, facts("quorum", Map.of("x-delivery-limit", 5), Map.of())).faults())
        .singleElement()
        .asString()
        .contains("delivery limit of 5");
    assertThat(look(OLD, facts("quorum", Map.of(), Map.of("delivery-limit", 7))).faults())
        .hasSize(1);
  }

  @Test
  void theStricterOfPolicyAndArgumentCounts() {
    Facts both = facts("quorum", Map.of("x-delivery-limit", -1), Map.of("delivery-limit", 7));
    assertThat(both.number("delivery-limit")).isEqualTo(7);
    Facts numbers = facts("quorum", Map.of("x-delivery-limit", 3), Map.of("delivery-limit", 7));
    assertThat(numbers.number("delivery-limit")).isEqualTo(3);
  }

  @Test
  void orderByKeyNeedsASingleActiveConsumer() {
    QueueConfig ordered = queue(QueueConfig.Ordering.KEY, Duration.ofSeconds(20));
    Facts without = facts("quorum", Map.of(), Map.of());
    assertThat(QueueContract.look(ordered, OLD, without, HALF_AN_HOUR).faults())
        .singleElement()
        .asString()
        .contains("single-active-consumer");
    Facts with = facts("quorum", Map.of("x-single-active-consumer", true), Map.of());
    assertThat(QueueContract.look(ordered, OLD, with, HALF_AN_HOUR).faults()).isEmpty();
  }

  @Test
  void aRunMustFitTheConsumerTimeout() {
    QueueConfig slow = queue(QueueConfig.Ordering.NONE, Duration.ofMinutes(30).minusSeconds(29));
    assertThat(QueueContract.look(slow, OLD, null, HALF_AN_HOUR).faults())
        .singleElement()
        .asString()
        .contains("order.placed", "1771s", "1800s", "broker.consumer-timeout");
    QueueConfig fits = queue(QueueConfig.Ordering.NONE, Duration.ofMinutes(30).minusSeconds(30));
    assertThat(QueueContract.look(fits, OLD, null, HALF_AN_HOUR).faults()).isEmpty();
    Facts shorter = facts("quorum", Map.of("x-consumer-timeout", 60_000), Map.of());
    assertThat(
            QueueContract.look(
                    queue(QueueConfig.Ordering.NONE, Duration.ofSeconds(31)),
                    OLD,
                    shorter,
                    HALF_AN_HOUR)
                .faults())
        .hasSize(1);
  }

  @Test
  void whatMayLoseMessagesIsWarnedAbout() {
    Findings findings =
        look(OLD, facts("classic", Map.of("x-message-ttl", 1000), Map.of("max-length", 5)));
    assertThat(findings.faults()).isEmpty();
    assertThat(findings.warnings()).hasSize(2);
    assertThat(
            look(
                    OLD,
                    facts(
                        "classic",
                        Map.of("x-max-length", 5, "x-overflow", "reject-publish"),
                        Map.of()))
                .warnings())
        .isEmpty();
    assertThat(look(OLD, Facts.of("classic", false, Map.of(), Map.of())).warnings()).hasSize(1);
  }

  @Test
  void aStreamIsNoQueue() {
    assertThat(look(OLD, facts("stream", Map.of(), Map.of())).faults()).hasSize(1);
  }

  private static Findings look(BrokerFeatures broker, @Nullable Facts facts) {
    return QueueContract.look(
        queue(QueueConfig.Ordering.NONE, Duration.ofSeconds(20)), broker, facts, HALF_AN_HOUR);
  }

  private static Facts facts(
      String type, Map<String, Object> arguments, Map<String, Object> policy) {
    return Facts.of(type, true, arguments, policy);
  }

  static QueueConfig queue(QueueConfig.Ordering ordering, Duration hard) {
    ActivityConfig activity =
        new ActivityConfig(
            "order.placed",
            ActivityKind.PURE,
            new ActivityConfig.Handler.JavaClass("x"),
            1,
            new ActivityConfig.Timing(
                new FencepostConfig.LeaseTimes(Duration.ofSeconds(30), Duration.ofSeconds(10)),
                Duration.ofSeconds(1),
                hard,
                null),
            new ActivityConfig.Retry(3, Duration.ofSeconds(5), 2, Duration.ofHours(1), 0, 4),
            null);
    return new QueueConfig(
        "q",
        "app.q",
        null,
        new QueueConfig.Intake(10, 10, ordering),
        null,
        null,
        Map.of("order.placed", activity));
  }
}
