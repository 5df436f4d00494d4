package dev.fencepost.relay;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Opens the batches of all lanes of a process together and appends their checkpoints: poll, mark,
 * snapshot with first pages. The order of these three is what the cursor rests on.
 */
final class BatchOpener {
  private final OutboxStore store;
  private final String instance;

  BatchOpener(OutboxStore store, String instance) {
    this.store = store;
    this.instance = instance;
  }

  /**
   * @param opened whether a lane took a batch
   */
  record Turn(OutboxStore.Poll poll, boolean opened) {}

  Future<Turn> turn(Collection<LaneLoop> owned) {
    return store
        .poll()
        .compose(
            poll -> {
              List<LaneLoop> lanes = ofThisLife(owned, poll.life());
              List<LaneLoop> ready = new ArrayList<>();
              for (LaneLoop lane : lanes) {
                boolean idle = lane.idle(poll);
                if (!idle && lane.wantsBatch()) {
                  ready.add(lane);
                }
              }
              return checkpoint(poll.life(), lanes, !ready.isEmpty())
                  .compose(v -> open(poll, ready));
            });
  }

  /** Appends the checkpoints of lanes that drain or end. */
  Future<Void> close(LaneLoop lane) {
    return mark(lane.life(), List.of(lane), true, false);
  }

  private static List<LaneLoop> ofThisLife(Collection<LaneLoop> owned, String life) {
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

  private Future<Void> checkpoint(String life, List<LaneLoop> lanes, boolean mark) {
    return mark(life, lanes, false, mark);
  }

  private Future<Void> mark(String life, List<LaneLoop> lanes, boolean forced, boolean mark) {
    Map<LaneLoop, Checkpoint> due = new LinkedHashMap<>();
    for (LaneLoop lane : lanes) {
      Checkpoint checkpoint = lane.due(forced);
      if (checkpoint != null) {
        due.put(lane, checkpoint);
      }
    }
    if (due.isEmpty() && !mark) {
      return Future.succeededFuture();
    }
    return store
        .mark(instance, life, List.copyOf(due.values()))
        .onFailure(unknown -> due.keySet().forEach(LaneLoop::voided))
        .onSuccess(
            marked ->
                due.forEach(
                    (lane, checkpoint) ->
                        lane.appended(checkpoint, marked.appended().contains(lane.number()))))
        .mapEmpty();
  }

  private Future<Turn> open(OutboxStore.Poll poll, List<LaneLoop> ready) {
    Map<LaneLoop, OutboxStore.Opening> openings = new LinkedHashMap<>();
    for (LaneLoop lane : ready) {
      if (lane.wantsBatch()) {
        openings.put(lane, lane.opening(poll));
      }
    }
    if (openings.isEmpty()) {
      return Future.succeededFuture(new Turn(poll, false));
    }
    return store
        .open(List.copyOf(openings.values()))
        .map(
            opened -> {
              openings.forEach(
                  (lane, opening) -> {
                    if (lane.life().equals(opened.life()) && !lane.stopped()) {
                      lane.opened(opened, poll.floor(), opening);
                    }
                  });
              return new Turn(poll, true);
            });
  }
}
