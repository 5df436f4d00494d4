package dev.fencepost.relay;

import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which rows of a lane may not be published now: those the broker refused and all later ones of
 * their keys. A key stays blocked until its last parked row is gone.
 */
final class Parker {
  private final RelaySettings settings;
  private final InFlight rows;
  private final Set<String> blocked;
  private final List<Pending> pending = new ArrayList<>();

  private record Pending(Held held, ParkedReason reason, @Nullable String detail) {}

  /** Rows on their way to the table. */
  record Parking(List<Held> held, List<LaneStore.Parking> rows) {}

  Parker(RelaySettings settings, InFlight rows, Set<String> blocked) {
    this.settings = settings;
    this.rows = rows;
    this.blocked = new HashSet<>(blocked);
  }

  /** Whether a row that was just read must be parked, too. */
  boolean takes(Held held) {
    String key = held.row.key();
    if (key == null || !blocked.contains(key)) {
      return false;
    }
    held.state = Held.State.PARKING;
    pending.add(new Pending(held, ParkedReason.BEHIND_KEY, null));
    return true;
  }

  /** The broker refused a row: it and those of its key that wait behind it are parked. */
  void refused(Held held, ParkedReason reason, @Nullable String detail) {
    String key = held.row.key();
    if (key != null) {
      blocked.add(key);
    }
    List<Held> chain = rows.withdraw(held);
    pending.add(new Pending(held, reason, detail));
    for (Held behind : chain.subList(1, chain.size())) {
      pending.add(new Pending(behind, ParkedReason.BEHIND_KEY, null));
    }
  }

  boolean pending() {
    return !pending.isEmpty();
  }

  Parking take() {
    Duration first =
        RefusalPolicy.backoff(
            1,
            settings.relay().limits().parkedBackoffBase(),
            settings.relay().limits().parkedBackoffMax());
    List<Held> held = new ArrayList<>();
    List<LaneStore.Parking> parking = new ArrayList<>();
    for (Pending each : pending) {
      held.add(each.held());
      parking.add(new LaneStore.Parking(each.held().row, each.reason(), each.detail(), first));
    }
    pending.clear();
    return new Parking(held, parking);
  }

  long parked() {
    return 0;
  }
}
