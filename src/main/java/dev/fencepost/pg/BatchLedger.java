package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.worker.Claim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Which claimed groups of this process have no more running rows, so that the sweep need not look
 * at them. A memory only: what it loses, the sweep finds out.
 */
final class BatchLedger {
  record Batch(String consumer, long number) {}

  private record Start(ActivityId id, long fence) {}

  private final AtomicInteger tags = new AtomicInteger();
  private final Map<Start, Batch> starts = new ConcurrentHashMap<>();
  private final Map<Batch, Integer> running = new ConcurrentHashMap<>();
  private final Set<Batch> alike = ConcurrentHashMap.newKeySet();
  private final Queue<Batch> empty = new ConcurrentLinkedQueue<>();

  /** For the next claim: different from that of any other claim of this process at its time. */
  long tag() {
    return tags.getAndIncrement() & 1023;
  }

  void started(ActivityId id, long fence, long batch) {
    Batch of = new Batch(id.consumer(), batch);
    running.merge(of, 1, Integer::sum);
    starts.put(new Start(id, fence), of);
  }

  /**
   * First starts, each with its batch.
   *
   * @param allAlike whether they are all that their batches have, and nothing stands behind any of
   *     them: see {@link #whole}
   */
  void started(Map<ActivityId, Batch> firsts, boolean allAlike) {
    Map<Batch, Integer> counts = new HashMap<>();
    firsts.values().forEach(batch -> counts.merge(batch, 1, Integer::sum));
    counts.forEach((batch, count) -> running.merge(batch, count, Integer::sum));
    if (allAlike) {
      alike.addAll(counts.keySet());
    }
    firsts.forEach((id, batch) -> starts.put(new Start(id, 1), batch));
  }

  /** The batch of a start, as far as it is known that all its running rows are alike. */
  @Nullable Batch ofAlike(Claim.Ticket ticket) {
    Batch batch = starts.get(new Start(ticket.id(), ticket.fence()));
    return batch != null && alike.contains(batch) ? batch : null;
  }

  /** Whether so many are all that still run of the batch. */
  boolean whole(Batch batch, int count) {
    return running.getOrDefault(batch, 0) == count;
  }

  /** Its row runs no more. */
  void ended(Claim.Ticket ticket) {
    Batch batch = forget(ticket.id(), ticket.fence());
    if (batch != null && running.computeIfPresent(batch, BatchLedger::oneLess) == null) {
      alike.remove(batch);
      empty.add(batch);
    }
  }

  /** All that still ran of these batches runs no more. */
  void ended(List<Batch> whole, List<Claim.Ticket> tickets) {
    tickets.forEach(ticket -> starts.remove(new Start(ticket.id(), ticket.fence())));
    for (Batch batch : whole) {
      forget(batch);
      empty.add(batch);
    }
  }

  /** Nothing is known of its row; the batch is left to the sweep. */
  void lost(Claim.Ticket ticket) {
    lost(ticket.id(), ticket.fence());
  }

  void lost(ActivityId id, long fence) {
    Batch batch = forget(id, fence);
    if (batch != null) {
      forget(batch);
    }
  }

  /** What is known of its rows is wrong or too little. */
  void forget(Batch batch) {
    running.remove(batch);
    alike.remove(batch);
  }

  private @Nullable Batch forget(ActivityId id, long fence) {
    Batch batch = starts.remove(new Start(id, fence));
    return batch != null && running.containsKey(batch) ? batch : null;
  }

  private static @Nullable Integer oneLess(Batch batch, int count) {
    return count == 1 ? null : count - 1;
  }

  /** Those that have emptied since it was asked last. */
  List<Batch> drain() {
    List<Batch> drained = new ArrayList<>();
    for (Batch batch = empty.poll(); batch != null; batch = empty.poll()) {
      drained.add(batch);
    }
    return drained;
  }

  @Override
  public String toString() {
    return "starts=" + starts.keySet() + " running=" + running + " alike=" + alike;
  }
}
