package dev.fencepost.worker;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one queue and of its types. One type never waits for another: each has a line of its
 * own, served in turn. Due retries that found a type full are given the next slot that comes free.
 */
final class Gates {
  private final List<TypeLane> lanes;
  private final Admission admission;
  private final LongSupplier nanos;
  private final Consumer<Job> enter;
  private Runnable granted = () -> {};
  private int free;
  private int turn;
  private boolean dispatching;

  /**
   * @param nanos the monotonic clock
   */
  Gates(
      int concurrency,
      List<TypeLane> lanes,
      Admission admission,
      LongSupplier nanos,
      Consumer<Job> enter) {
    this.free = concurrency;
    this.nanos = nanos;
    this.lanes = lanes;
    this.admission = admission;
    this.enter = enter;
    admission.onOpen(this::dispatch);
  }

  /** Called when a slot has been given to due retries. */
  void onGrant(Runnable retries) {
    granted = retries;
  }

  /** More slots, or fewer: what runs above a lower limit keeps its slot until it ends. */
  void resized(int more) {
    free += more;
    dispatch();
  }

  void offer(Job job) {
    job.lane.waiting.add(job);
    dispatch();
  }

  /** The job leaves; its slot goes to whoever waits. */
  void leave(Job job) {
    if (job.hasSlot) {
      job.hasSlot = false;
      give(job.lane, 1);
      dispatch();
    }
  }

  /** Takes a slot although none may be free: for what must not wait behind others. */
  void enterAnyway(Job job) {
    job.hasSlot = true;
    give(job.lane, -1);
  }

  /** A handler has not come back: its slot is gone until it does. */
  void leak(TypeLane lane) {
    lane.leaked++;
    give(lane, -1);
  }

  void returned(TypeLane lane) {
    lane.leaked--;
    give(lane, 1);
    dispatch();
  }

  /** Takes up to {@code most} slots for due retries, those granted before included. */
  int takeForRetries(TypeLane lane, int most) {
    int fresh = Math.max(0, Math.min(most - lane.granted, Math.min(lane.free, free)));
    give(lane, -fresh);
    if (fresh > 0) {
      moved(lane);
    }
    int all = lane.granted + fresh;
    lane.granted = 0;
    return all;
  }

  void giveBack(TypeLane lane, int slots) {
    give(lane, slots);
    dispatch();
  }

  void dispatch() {
    if (dispatching) {
      return;
    }
    dispatching = true;
    try {
      TypeLane lane = next();
      while (lane != null) {
        serve(lane);
        lane = next();
      }
    } finally {
      dispatching = false;
    }
  }

  private void serve(TypeLane lane) {
    moved(lane);
    if (lane.wanted > 0) {
      lane.wanted--;
      lane.granted++;
      give(lane, -1);
      granted.run();
      return;
    }
    Job job = lane.waiting.remove();
    if (job.finished) {
      return; // its channel has gone
    }
    job.hasSlot = true;
    give(lane, -1);
    enter.accept(job);
  }

  private @Nullable TypeLane next() {
    if (free <= 0 || !admission.open()) {
      return null;
    }
    for (int i = 0; i < lanes.size(); i++) {
      TypeLane lane = lanes.get(turn);
      turn = turn + 1 == lanes.size() ? 0 : turn + 1;
      if (lane.free > 0 && (lane.wanted > 0 || !lane.waiting.isEmpty())) {
        return lane;
      }
    }
    return null;
  }

  private void moved(TypeLane lane) {
    lane.movedNanos = nanos.getAsLong();
    lane.overflows = false;
  }

  private void give(TypeLane lane, int slots) {
    lane.free += slots;
    free += slots;
  }
}
