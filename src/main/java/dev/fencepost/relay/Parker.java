package dev.fencepost.relay;

import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.ParkedRows.Destination;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which rows of a lane may not be published now: those the broker refused, all later ones of their
 * keys, and what goes to an exchange that takes nothing. A key stays blocked until its last parked
 * row is gone.
 */
final class Parker {
  private static final String NOT_SENT = "not sent: no confirm came from there just before";

  private final InFlight rows;
  private final Destinations destinations;
  private final Set<String> blocked;
  private final List<Pending> pending = new ArrayList<>();

  /** Rows of a key that are on their way to the table. */
  private final Map<String, Integer> moving = new HashMap<>();

  private record Pending(Held held, ParkedReason reason, @Nullable String detail, int attempts) {}

  /** Rows on their way to the table. */
  record Parking(List<Held> held, List<LaneStore.Parking> rows) {}

  Parker(InFlight rows, Destinations destinations, Set<String> blocked) {
    this.rows = rows;
    this.destinations = destinations;
    this.blocked = new HashSet<>(blocked);
  }

  /** Whether a row that was just read must be parked unsent; it is, then. */
  boolean takes(Held held) {
    String key = held.row.key();
    if (key != null && blocked.contains(key)) {
      held.state = Held.State.PARKING;
      park(held, ParkedReason.BEHIND_KEY, null, 0);
      return true;
    }
    return false;
  }

  /** Whether a row that is to be sent next goes to an exchange that takes nothing; it is parked. */
  boolean diverts(Held held) {
    if (destinations.none()) {
      return false;
    }
    ParkedReason reason = destinations.refusal(held.row.route());
    if (reason == null) {
      return false;
    }
    boolean silent = reason == ParkedReason.REJECTED;
    withdraw(held, reason, silent ? NOT_SENT : "the exchange took nothing just before", 0);
    return true;
  }

  /** No confirm came for rows of a destination, and their room is needed. */
  void unconfirmed(Destination to, Collection<Held> held, String detail) {
    destinations.silent(to);
    for (Held each : held) {
      withdraw(each, ParkedReason.REJECTED, each.exposed || each.tried ? detail : NOT_SENT, 0);
    }
  }

  /** The broker refused a row: it and those of its key that wait behind it are parked. */
  void refused(Held held, ParkedReason reason, @Nullable String detail) {
    if (Destinations.about(reason)) {
      destinations.refuse(held.row.route(), reason);
    }
    withdraw(held, reason, detail, 1);
  }

  /** The broker took a row. */
  void published(Held held) {
    if (!destinations.none()) {
      destinations.accept(held.row.route());
    }
  }

  private void withdraw(Held held, ParkedReason reason, @Nullable String detail, int attempts) {
    String key = held.row.key();
    if (key != null) {
      blocked.add(key);
    }
    List<Held> chain = rows.withdraw(held);
    park(held, reason, detail, attempts);
    for (Held behind : chain.subList(1, chain.size())) {
      park(behind, ParkedReason.BEHIND_KEY, null, 0);
    }
  }

  private void park(Held held, ParkedReason reason, @Nullable String detail, int attempts) {
    pending.add(new Pending(held, reason, detail, attempts));
    if (held.row.key() != null) {
      moving.merge(held.row.key(), 1, Integer::sum);
    }
  }

  boolean pending() {
    return !pending.isEmpty();
  }

  /**
   * @param most rows that have room
   */
  Parking take(long most) {
    List<Held> held = new ArrayList<>();
    List<LaneStore.Parking> parking = new ArrayList<>();
    List<Pending> taken = pending.subList(0, (int) Math.min(most, pending.size()));
    for (Pending each : taken) {
      held.add(each.held());
      parking.add(
          new LaneStore.Parking(
              each.held().row,
              each.reason(),
              each.detail(),
              each.attempts(),
              destinations.backoff(each.held().row.route(), each.attempts())));
    }
    taken.clear();
    return new Parking(held, parking);
  }

  /** They are in the table. */
  void parked(Parking parking) {
    for (Held held : parking.held()) {
      if (held.row.key() != null) {
        moving.computeIfPresent(held.row.key(), (key, n) -> n == 1 ? null : n - 1);
      }
      rows.settle(held);
    }
  }

  /** These keys have no rows in the table any more. */
  void free(Set<String> keys) {
    for (String key : keys) {
      if (!moving.containsKey(key)) {
        blocked.remove(key);
      }
    }
  }
}
