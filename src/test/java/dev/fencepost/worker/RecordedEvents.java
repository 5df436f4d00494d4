package dev.fencepost.worker;

import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Counts what the worker tells of itself. */
final class RecordedEvents implements WorkerEvents {
  final Map<Outcome, Integer> outcomes = new ConcurrentHashMap<>();
  final List<RecoveryDecision> decisions = new CopyOnWriteArrayList<>();
  final Map<String, Integer> inFlight = new ConcurrentHashMap<>();
  final Map<String, List<RecoveryDecision>> decisionsByQueue = new ConcurrentHashMap<>();
  private final Map<String, Integer> duplicatesByQueue = new ConcurrentHashMap<>();
  volatile int delivered;
  volatile int acknowledged;
  volatile int starts;
  volatile int firstStarts;
  volatile int leaked;
  volatile int stalled;
  volatile int leasesLost;
  volatile Duration expired = Duration.ZERO;
  volatile int denied;
  final List<DeadLetterReason> reasons = new CopyOnWriteArrayList<>();
  volatile int retries;
  volatile int highestInFlight;

  /** What telling of a run that is over fails with, once; null: it does not. */
  volatile RuntimeException faultOfRan;

  int count(Outcome outcome) {
    return outcomes.getOrDefault(outcome, 0);
  }

  @Override
  public void delivered(String queue, boolean redelivered) {
    delivered++;
  }

  int duplicates(String queue) {
    return duplicatesByQueue.getOrDefault(queue, 0);
  }

  @Override
  public void settled(String queue, String type, Outcome outcome) {
    if (outcome == Outcome.DUPLICATE) {
      duplicatesByQueue.merge(queue, 1, Integer::sum);
    }
    outcomes.merge(outcome, 1, Integer::sum);
  }

  @Override
  public void ran(String queue, String type, Duration took) {
    RuntimeException fault = faultOfRan;
    faultOfRan = null;
    if (fault != null) {
      throw fault;
    }
  }

  @Override
  public void acknowledged(String queue, Duration sinceDelivery) {
    acknowledged++;
  }

  @Override
  public void inFlight(String queue, String type, int runs) {
    inFlight.put(type, runs);
    highestInFlight = Math.max(highestInFlight, runs);
  }

  @Override
  public void started(String queue, String type, boolean first) {
    starts++;
    firstStarts += first ? 1 : 0;
  }

  @Override
  public void retried(String queue, String type) {
    retries++;
  }

  @Override
  public void takenOver(String queue, String type, RecoveryDecision decision) {
    decisions.add(decision);
    decisionsByQueue.computeIfAbsent(queue, q -> new CopyOnWriteArrayList<>()).add(decision);
  }

  @Override
  public void stalled(String queue, String type, int runs) {
    stalled = runs;
  }

  @Override
  public void leakedSlots(String queue, String type, int slots) {
    leaked = slots;
  }

  @Override
  public void leaseLost(String queue, String type) {
    leasesLost++;
  }

  @Override
  public void budgetDenied(String queue, String type) {
    denied++;
  }

  @Override
  public void deadLettered(String queue, DeadLetterReason reason) {
    reasons.add(reason);
  }

  @Override
  public void reviewsOpen(String queue, long open) {}

  @Override
  public void oldestExpiredLease(String queue, Duration age) {
    expired = age;
  }
}
