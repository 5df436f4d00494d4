package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.StorableText;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A group of claim requests, put into an order in which it can be asked, and back. */
final class ClaimGroups {
  private static final int ID_BYTES = 1024;
  private static final Comparator<ActivityId> BY_KEY =
      Comparator.comparing(ActivityId::consumer).thenComparing(ActivityId::eventId);

  private ClaimGroups() {}

  /** The identity as it is stored. */
  static ActivityId storable(ActivityId id) {
    return new ActivityId(
        StorableText.of(id.consumer(), ID_BYTES), StorableText.of(id.eventId(), ID_BYTES));
  }

  static Claim.Request storable(Claim.Request r) {
    ActivityId id = storable(r.id());
    return id.equals(r.id())
        ? r
        : new Claim.Request(id, r.work(), r.key(), r.redelivered(), r.known(), r.envelope());
  }

  /**
   * Each event once, each ordering key at most once a wave, in the order of the primary key: rows
   * are locked in that order.
   */
  static List<List<Claim.Request>> waves(List<Claim.Request> group) {
    List<List<Claim.Request>> waves = new ArrayList<>();
    Set<ActivityId> seen = new HashSet<>();
    Map<String, Integer> turns = new HashMap<>();
    for (Claim.Request original : group) {
      Claim.Request request = storable(original);
      if (seen.add(request.id())) {
        String key = request.key();
        int wave =
            key == null
                ? 0
                : turns.merge(request.id().consumer() + '\n' + key, 1, Integer::sum) - 1;
        while (waves.size() <= wave) {
          waves.add(new ArrayList<>());
        }
        waves.get(wave).add(request);
      }
    }
    waves.forEach(wave -> wave.sort(Comparator.comparing(Claim.Request::id, BY_KEY)));
    return waves;
  }

  static List<Claim.Request> sorted(List<Claim.Request> group) {
    return group.stream()
        .map(ClaimGroups::storable)
        .sorted(Comparator.comparing(Claim.Request::id, BY_KEY))
        .toList();
  }

  static Comparator<ActivityId> byKey() {
    return BY_KEY;
  }

  static List<Claim.Request> pick(List<Claim.Request> from, Set<Integer> indexes, boolean in) {
    List<Claim.Request> picked = new ArrayList<>();
    for (int i = 0; i < from.size(); i++) {
      if (indexes.contains(i) == in) {
        picked.add(from.get(i));
      }
    }
    return picked;
  }

  static List<Claim.Request> unanswered(
      List<Claim.Request> requests, Map<ActivityId, Claim.Answer> answers) {
    return requests.stream().filter(r -> !answers.containsKey(r.id())).toList();
  }

  /** One answer per request; the second of one event is held by the first. */
  static List<Claim.Answer> inOrder(
      String owner, List<Claim.Request> group, Map<ActivityId, Claim.Answer> known) {
    List<Claim.Answer> answers = new ArrayList<>(group.size());
    Set<ActivityId> seen = new HashSet<>();
    for (Claim.Request request : group) {
      ActivityId id = storable(request.id());
      Claim.Answer answer = known.get(id);
      if (answer == null) {
        throw new IllegalStateException("no answer for " + id);
      }
      boolean second = !seen.add(id);
      answers.add(
          second && answer instanceof Claim.Started started
              ? held(owner, request, started.ticket())
              : answer);
    }
    return answers;
  }

  private static Claim.Held held(String owner, Claim.Request request, Claim.Ticket ticket) {
    Claim.Work work = request.work();
    Duration left = work.leaseTtl();
    return new Claim.Held(
        left,
        new Evidence(
            ticket.id(),
            work.type(),
            work.kind(),
            new Evidence.Holder(owner, ticket.fence(), true, null, null),
            new Evidence.Counts(
                ticket.attempt(),
                work.maxAttempts(),
                ticket.retries(),
                work.maxRetries(),
                ticket.generation()),
            null,
            Duration.ZERO,
            false,
            false,
            new Evidence.Lease(0, left.negated()))); // no place in a sweep
  }

  /** The ticket of a first start. */
  static Claim.Ticket first(Claim.Request request) {
    return new Claim.Ticket(request.id(), request.work(), 1, 1, 0, 1, true, false);
  }
}
