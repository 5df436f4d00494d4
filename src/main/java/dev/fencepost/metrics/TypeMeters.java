package dev.fencepost.metrics;

import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.worker.WorkerEvents.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of one activity type of a queue. */
final class TypeMeters {
  final Map<Outcome, Counter> outcomes = new EnumMap<>(Outcome.class);
  final Map<RecoveryDecision, Counter> takeovers = new EnumMap<>(RecoveryDecision.class);
  final Timer run;
  final Counter firstStarts;
  final Counter laterStarts;
  final Counter retries;
  final Counter leaseLost;
  final Counter budgetDenied;
  final AtomicInteger inFlight = new AtomicInteger();
  final AtomicInteger stalled = new AtomicInteger();
  final AtomicInteger leaked = new AtomicInteger();

  private final Instruments instruments;
  private final Tags tags;

  TypeMeters(Instruments instruments, String queue, String type) {
    this.instruments = instruments;
    this.tags = Tags.of("queue", queue, "type", type);
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(
          outcome,
          counter(
              "activities",
              "How deliveries and due retries were settled",
              "outcome",
              outcome.name().toLowerCase(Locale.ROOT)));
    }
    for (RecoveryDecision decision : RecoveryDecision.values()) {
      takeovers.put(
          decision,
          counter(
              "takeovers",
              "Runs whose lease expired, by what recovery decided",
              "decision",
              decision.wire()));
    }
    run =
        instruments.timer(
            "fencepost.worker.run", "From a handler's start to its end", tags, Buckets.run());
    firstStarts = counter("starts", "Starts of handlers", "first", "true");
    laterStarts = counter("starts", "Starts of handlers", "first", "false");
    retries = counter("retries", "Retries scheduled after a transient failure");
    leaseLost = counter("lease.lost", "Outcomes refused: another owner had taken over");
    budgetDenied = counter("retry.budget.denied", "Due retries put off by the retry budget");
    gauge("in.flight", "Handlers running", inFlight);
    gauge("stalled", "Runs without progress behind a live lease", stalled);
    gauge("leaked.slots", "Handlers that run on after their hard limit", leaked);
    instruments.gauge(
        "fencepost.worker.amplification",
        "Starts for each distinct activity since the process started; 1 is none repeated",
        tags,
        this,
        TypeMeters::amplification);
  }

  private double amplification() {
    double first = firstStarts.count();
    double all = first + laterStarts.count();
    return all == 0 ? 1 : all / Math.max(1, first);
  }

  private Counter counter(String name, String description, String... more) {
    return instruments.counter("fencepost.worker." + name, description, tags.and(more));
  }

  private void gauge(String name, String description, AtomicInteger value) {
    instruments.gauge(
        "fencepost.worker." + name, description, tags, value, AtomicInteger::doubleValue);
  }
}
