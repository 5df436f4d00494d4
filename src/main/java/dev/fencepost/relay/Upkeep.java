package dev.fencepost.relay;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Moves scheduled rows, prunes checkpoints, empties slots of the ring. What is done for all lanes
 * is done by the owner of the first one.
 */
final class Upkeep {
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration PRUNE = Duration.ofSeconds(10);
  private static final Duration LONGEST = Duration.ofMinutes(1);
  private static final int ROWS = 500;

  private final RelayUpkeep store;
  private final RelaySettings settings;
  private final Supplier<Map<Integer, LaneLoop>> lanes;
  private final Repeating moving;
  private final Repeating pruning;
  private final Repeating emptying;

  Upkeep(
      Vertx vertx,
      RelaySettings settings,
      RelayUpkeep store,
      Supplier<Map<Integer, LaneLoop>> lanes) {
    this.store = store;
    this.settings = settings;
    this.lanes = lanes;
    this.moving = new Repeating(vertx, "moving scheduled rows", this::move);
    this.pruning = new Repeating(vertx, "pruning checkpoints", this::prune);
    this.emptying = new Repeating(vertx, "emptying the ring", this::empty);
  }

  void start() {
    moving.start();
    pruning.start();
    emptying.start();
  }

  private Future<Duration> move() {
    LaneLoop first = lanes.get().get(0);
    if (first == null) {
      return Future.succeededFuture(LOOK);
    }
    return store
        .moveDue(owner(first), ROWS)
        .map(
            moved -> {
              Duration next = moved.next();
              return next == null || next.compareTo(LOOK) > 0 ? LOOK : next;
            });
  }

  private Future<Duration> prune() {
    Set<Integer> owned = Set.copyOf(lanes.get().keySet());
    return owned.isEmpty() ? Future.succeededFuture(PRUNE) : store.prune(owned).map(v -> PRUNE);
  }

  /** Often enough that a slot is emptied early in the time in which it may be. */
  private Future<Duration> empty() {
    Duration slot = settings.relay().retention().dividedBy(6);
    Duration tenth = slot.dividedBy(10);
    Duration pause = tenth.compareTo(LONGEST) > 0 ? LONGEST : tenth;
    LaneLoop first = lanes.get().get(0);
    return first == null
        ? Future.succeededFuture(pause)
        : store.empty(owner(first)).map(v -> pause);
  }

  private ParkedRows.LaneOwner owner(LaneLoop lane) {
    return new ParkedRows.LaneOwner(settings.instance(), lane.number(), lane.fence());
  }

  Future<Void> stop() {
    return Future.join(moving.stop(), pruning.stop(), emptying.stop()).mapEmpty();
  }
}
