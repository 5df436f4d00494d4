package dev.fencepost.metrics;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.worker.WorkerEvents;
import io.micrometer.core.instrument.Counter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The worker's metrics. */
final class WorkerMeters implements WorkerEvents {
  /** Stands for every queue and type that the configuration does not name. */
  static final String OTHER = "other";

  private final Map<String, QueueMeters> queues = new HashMap<>();
  private final Instruments instruments;
  private @Nullable QueueMeters other;

  WorkerMeters(Instruments instruments, Map<String, QueueConfig> configured) {
    this.instruments = instruments;
    configured.forEach(
        (name, queue) ->
            queues.put(name, new QueueMeters(instruments, name, queue.activities().keySet())));
  }

  @Override
  public void delivered(String queue, boolean redelivered) {
    QueueMeters meters = of(queue);
    (redelivered ? meters.redelivered : meters.delivered).increment();
  }

  @Override
  public void settled(String queue, String type, Outcome outcome) {
    increment(of(queue, type).outcomes.get(outcome));
  }

  @Override
  public void ran(String queue, String type, Duration took) {
    of(queue, type).run.record(took);
  }

  @Override
  public void acknowledged(String queue, Duration sinceDelivery) {
    of(queue).deliveryToAck.record(sinceDelivery);
  }

  @Override
  public void inFlight(String queue, String type, int runs) {
    of(queue, type).inFlight.set(runs);
  }

  @Override
  public void started(String queue, String type, boolean first) {
    TypeMeters meters = of(queue, type);
    (first ? meters.firstStarts : meters.laterStarts).increment();
  }

  @Override
  public void retried(String queue, String type) {
    of(queue, type).retries.increment();
  }

  @Override
  public void takenOver(String queue, String type, RecoveryDecision decision) {
    increment(of(queue, type).takeovers.get(decision));
  }

  @Override
  public void stalled(String queue, String type, int runs) {
    of(queue, type).stalled.set(runs);
  }

  @Override
  public void leakedSlots(String queue, String type, int slots) {
    of(queue, type).leaked.set(slots);
  }

  @Override
  public void leaseLost(String queue, String type) {
    of(queue, type).leaseLost.increment();
  }

  @Override
  public void budgetDenied(String queue, String type) {
    of(queue, type).budgetDenied.increment();
  }

  @Override
  public void deadLettered(String queue, DeadLetterReason reason) {
    increment(of(queue).deadLetters.get(reason));
  }

  @Override
  public void reviewsOpen(String queue, long open) {
    of(queue).reviews.set(open);
  }

  @Override
  public void oldestExpiredLease(String queue, Duration age) {
    of(queue).expiredMillis.set(age.toMillis());
  }

  private QueueMeters of(String queue) {
    QueueMeters meters = queues.get(queue);
    return meters == null ? other() : meters;
  }

  /** Made when it is first needed; a queue of that name shares it. */
  private QueueMeters other() {
    QueueMeters made = other;
    if (made == null) {
      QueueMeters named = queues.get(OTHER);
      made = named == null ? new QueueMeters(instruments, OTHER, List.of()) : named;
      other = made;
    }
    return made;
  }

  private TypeMeters of(String queue, String type) {
    return of(queue).type(type);
  }

  private static void increment(@Nullable Counter counter) {
    if (counter != null) {
      counter.increment();
    }
  }
}
