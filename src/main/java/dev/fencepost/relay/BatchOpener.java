package dev.fencepost.relay;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Opens the batches of all lanes of a process together and appends their checkpoints. The order of
 * its three steps is what the cursor rests on: the sequence's last value, the mark, the snapshot
 * with first pages. A lane that fails is void and holds up no other.
 */
final class BatchOpener {
  private final OutboxStore store;
  private final String instance;
  private String life = "";

  BatchOpener(OutboxStore store, String instance) {
    this.store = store;
    this.instance = instance;
  }

  /**
   * @param requests whether operators ask something of parked rows
   * @param opened whether a lane took a batch
   */
  record Turn(boolean requests, boolean opened) {}

  /** Looks whether there is anything to read, and reads it. */
  Future<Turn> turn(Collection<LaneLoop> owned) {
    return store
        .poll()
        .compose(
            poll -> {
              life = poll.life();
              List<LaneLoop> lanes = ofThisLife(owned);
              List<LaneLoop> ready = new ArrayList<>();
              for (LaneLoop lane : lanes) {
                lane.guarded(
                    () -> {
                      boolean idle = lane.idle(poll.floor(), poll.now());
                      if (!idle && lane.wantsBatch()) {
                        ready.add(lane);
                      }
                    });
              }
              return ready.isEmpty()
                  ? checkpoint(lanes, false).map(v -> new Turn(poll.requests(), false))
                  : open(lanes, ready);
            });
  }

  /** Reads without looking first, where more is expected. */
  Future<Turn> next(Collection<LaneLoop> owned) {
    List<LaneLoop> ready = owned.stream().filter(LaneLoop::wantsBatch).toList();
    boolean sameLife = owned.stream().allMatch(lane -> lane.life().equals(life));
    return ready.isEmpty() || !sameLife ? turn(owned) : open(List.copyOf(owned), ready);
  }

  /** Appends the checkpoints of lanes that drain or end. */
  Future<Void> close(LaneLoop lane) {
    return checkpoint(List.of(lane), true);
  }

  private List<LaneLoop> ofThisLife(Collection<LaneLoop> owned) {
    List<LaneLoop> same = new ArrayList<>();
    for (LaneLoop lane : List.copyOf(owned)) {
      if (lane.life().equals(life)) {
        same.add(lane);
      } else {
        lane.voided();
      }
    }
    return same;
  }

  private static Map<LaneLoop, Checkpoint> due(List<LaneLoop> lanes, boolean forced) {
    Map<LaneLoop, Checkpoint> due = new LinkedHashMap<>();
    for (LaneLoop lane : lanes) {
      lane.guarded(
          () -> {
            Checkpoint checkpoint = lane.due(forced);
            if (checkpoint != null) {
              due.put(lane, checkpoint);
            }
          });
    }
    return due;
  }

  /** Those of one life. */
  private Future<Void> checkpoint(List<LaneLoop> lanes, boolean forced) {
    Map<LaneLoop, Checkpoint> due = due(lanes, forced);
    if (due.isEmpty()) {
      return Future.succeededFuture();
    }
    String of = lanes.get(0).life();
    return marked(due, store.mark(instance, of, List.copyOf(due.values()))).mapEmpty();
  }

  private static Future<OutboxStore.Marked> marked(
      Map<LaneLoop, Checkpoint> due, Future<OutboxStore.Marked> mark) {
    return mark.onFailure(unknown -> due.keySet().forEach(LaneLoop::voided))
        .onSuccess(
            marked ->
                due.forEach(
                    (lane, checkpoint) -> {
                      boolean accepted = marked.appended().contains(lane.number());
                      lane.guarded(() -> lane.appended(checkpoint, accepted));
                    }));
  }

  private Future<Turn> open(List<LaneLoop> lanes, List<LaneLoop> ready) {
    Map<LaneLoop, Checkpoint> due = due(lanes, false);
    Map<LaneLoop, OutboxStore.Opening> openings = new LinkedHashMap<>();
    ready.forEach(lane -> lane.guarded(() -> openings.put(lane, lane.opening())));
    OutboxStore.Turn turn =
        store.open(instance, life, List.copyOf(due.values()), List.copyOf(openings.values()));
    return marked(due, turn.marked())
        .compose(
            marked ->
                turn.opened()
                    .map(
                        opened ->
                            new Turn(marked.requests(), opened(lanes, openings, marked, opened))));
  }

  private static boolean opened(
      List<LaneLoop> lanes,
      Map<LaneLoop, OutboxStore.Opening> openings,
      OutboxStore.Marked marked,
      OutboxStore.Opened opened) {
    List<LaneLoop> took = new ArrayList<>();
    for (LaneLoop lane : lanes) {
      // Of another life: the next look at the database finds that out, too, and has it read again.
      if (lane.stopped() || !lane.life().equals(opened.life())) {
        continue;
      }
      OutboxStore.Opening opening = openings.get(lane);
      lane.guarded(
          () -> {
            boolean idle = lane.idle(marked.floor(), opened.cur());
            if (!idle && opening != null) {
              lane.opened(opened, marked.floor(), opening);
              took.add(lane);
            }
          });
    }
    return !took.isEmpty();
  }
}
