package dev.fencepost.relay;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Port: what must be done now and then so that the outbox stays small and scheduled rows come. */
public interface RelayUpkeep {

  /**
   * Moves scheduled rows that are due into the outbox.
   *
   * @param owner of the lane whose owner does this for all
   */
  Future<Moved> moveDue(ParkedRows.LaneOwner owner, int limit);

  /** Removes checkpoints that newer ones of the same lane have made useless. */
  Future<Void> prune(Set<Integer> lanes);

  /**
   * Empties the ring's next slot, if all its rows are older than retention and settled in every
   * lane. Never makes an insert wait.
   *
   * @return whether a slot was emptied
   */
  Future<Boolean> empty(ParkedRows.LaneOwner owner);

  /**
   * @param next until the next one is due, or null when none is scheduled
   */
  record Moved(int rows, @Nullable Duration next) {}
}
