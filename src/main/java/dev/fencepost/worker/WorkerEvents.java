package dev.fencepost.worker;

import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;

/**
 * Port: what the worker tells of itself. Cheap calls on the event loop; implementations never
 * throw.
 */
public interface WorkerEvents {

  /** How a delivery or due retry was settled (metric {@code …_activities_total}). */
  enum Outcome {
    DISPATCHED,
    DUPLICATE,
    RETRY_SCHEDULED,
    DEAD_LETTERED,
    MANUAL_REVIEW,
    LEASE_LOST
  }

  void delivered(String queue, boolean redelivered);

  void settled(String queue, String type, Outcome outcome);

  void ran(String queue, String type, Duration took);

  void acknowledged(String queue, Duration sinceDelivery);

  void inFlight(String queue, String type, int runs);

  void started(String queue, String type, boolean first);

  /** A retry has been scheduled after a failure that may pass. */
  void retried(String queue, String type);

  void takenOver(String queue, String type, RecoveryDecision decision);

  void stalled(String queue, String type, int runs);

  void leakedSlots(String queue, String type, int slots);

  void leaseLost(String queue, String type);

  void budgetDenied(String queue, String type);

  void deadLettered(String queue, DeadLetterReason reason);

  void reviewsOpen(String queue, long open);

  /** How long the oldest lease is over that nobody has decided about; zero when there is none. */
  void oldestExpiredLease(String queue, Duration age);
}
