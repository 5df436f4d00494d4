package dev.fencepost.metrics;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.worker.WorkerEvents.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** Metrics of a small configuration, and one of every event. */
final class MetricsFixture {
  private MetricsFixture() {}

  static FencepostConfig config(String more) {
    return ConfigLoader.parse(
        """
        queues:
          mail:
            queue: app.mail
            activities:
              order.placed: {kind: pure, handler: {class: a.B}}
              order.audit: {kind: effect, handler: {sql: "select 1"}}
        """
            + more,
        Map.of());
  }

  static void oneOfEach(FencepostMetrics metrics) {
    metrics.relay().published(3, 10);
    metrics.relay().refused(ParkedReason.UNROUTABLE);
    metrics.relay().confirmed(Duration.ofMillis(3));
    metrics.relay().unconfirmed(3, 7);
    metrics.relay().unconfirmed(4, 5);
    metrics.relay().lag(3, Duration.ofMillis(1_500), LagCause.KEY_PARKED);
    metrics.relay().parked(4);
    metrics.relay().lanesOwned(Set.of(3, 4));
    metrics.worker().delivered("mail", true);
    metrics.worker().delivered("mail", false);
    metrics.worker().acknowledged("mail", Duration.ofMillis(40));
    metrics.worker().deadLettered("mail", DeadLetterReason.POISON_MESSAGE);
    metrics.worker().reviewsOpen("mail", 6);
    metrics.worker().oldestExpiredLease("mail", Duration.ofMillis(2_500));
    String type = "order.placed";
    metrics.worker().settled("mail", type, Outcome.DISPATCHED);
    metrics.worker().ran("mail", type, Duration.ofMillis(30));
    metrics.worker().inFlight("mail", type, 9);
    metrics.worker().started("mail", type, true);
    metrics.worker().started("mail", type, true);
    metrics.worker().started("mail", type, false);
    metrics.worker().retried("mail", type);
    metrics.worker().takenOver("mail", type, RecoveryDecision.MANUAL_REVIEW);
    metrics.worker().stalled("mail", type, 1);
    metrics.worker().leakedSlots("mail", type, 2);
    metrics.worker().leaseLost("mail", type);
    metrics.worker().budgetDenied("mail", type);
  }
}
