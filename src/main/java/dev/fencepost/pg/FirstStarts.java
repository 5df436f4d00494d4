package dev.fencepost.pg;

import dev.fencepost.worker.Claim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Events that start for the first time, as values of a statement: what all events of a type have in
 * common is sent once. Most groups are of one type, so that only their ids are left.
 */
final class FirstStarts {
  private final List<Claim.Request> requests;
  private final List<Kin> kin = new ArrayList<>();
  private final Integer @Nullable [] works;

  private record Kin(String consumer, Claim.Work work) {}

  private FirstStarts(List<Claim.Request> requests) {
    this.requests = requests;
    Integer[] found = works();
    this.works = kin.size() > 1 ? found : null;
  }

  static FirstStarts of(List<Claim.Request> requests) {
    return new FirstStarts(requests);
  }

  private Integer[] works() {
    Map<Kin, Integer> known = new HashMap<>();
    Integer[] found = new Integer[requests.size()];
    Claim.@Nullable Request last = null;
    for (int i = 0; i < found.length; i++) {
      Claim.Request request = requests.get(i);
      found[i] = last != null && alike(last, request) ? found[i - 1] : work(known, request);
      last = request;
    }
    return found;
  }

  private static boolean alike(Claim.Request one, Claim.Request other) {
    return one.work().equals(other.work()) && one.id().consumer().equals(other.id().consumer());
  }

  /** Counted from 1, as the arrays of a statement are. */
  private int work(Map<Kin, Integer> known, Claim.Request request) {
    Kin of = new Kin(request.id().consumer(), request.work());
    return known.computeIfAbsent(
        of,
        added -> {
          kin.add(added);
          return kin.size();
        });
  }

  /** $1 the owner, $2 to $6 what types have in common, $7 to $10 the events. */
  Columns<Claim.Request> columns(String owner) {
    return new Columns<>(kin)
        .value(owner)
        .names(Kin::consumer)
        .names(k -> k.work().type())
        .names(k -> k.work().kind().wire())
        .longs(k -> k.work().maxRetries())
        .longs(k -> k.work().maxAttempts())
        .value(works)
        .of(requests)
        .names(r -> r.id().eventId())
        .rareNames(Claim.Request::key)
        .rareBooleans(Claim.Request::redelivered);
  }

  /** $11: the leases of the types. */
  Columns<?> leases(Columns<?> columns) {
    return columns.of(kin).longs(k -> k.work().leaseTtl().toMillis());
  }
}
