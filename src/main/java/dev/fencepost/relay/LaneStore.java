package dev.fencepost.relay;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Port: who owns which lane. Leases run by the database's time. */
public interface LaneStore {

  /**
   * Registers the instance as alive, renews its leases and reports of its lanes, and reads how all
   * lanes stand.
   *
   * @param reports one for each lane owned
   */
  Future<Standing> renew(String instance, Duration ttl, List<Report> reports);

  /**
   * Takes those of the lanes that are free, whose lease has expired or that were its own; raises
   * their fences.
   *
   * @return the newest checkpoint of each lane taken, with its fence
   */
  Future<List<Taken>> take(String instance, Duration ttl, Set<Integer> lanes);

  /** Gives lanes back, where still owned with these fences. */
  Future<Void> release(String instance, Map<Integer, Long> fences);

  /** Takes the instance off the register. */
  Future<Void> leave(String instance);

  /** Parks rows and appends the checkpoint, in one transaction, if still owned. */
  Future<Boolean> park(String owner, String life, List<Parking> rows, Checkpoint checkpoint);

  /**
   * @param position about where it stands in the sequence
   */
  record Report(int lane, long fence, long position, Lag lag, long parked) {}

  /**
   * @param behind whether rows above the position wait to be published
   * @param awaited open transactions that may have rows for the lane
   */
  record Lag(LagCause cause, boolean behind, @Nullable String detail, List<Long> awaited) {}

  /**
   * @param oldest age of the oldest unpublished row, parked ones included, or of the transaction
   *     that hides it
   */
  record Behind(Duration oldest, LagCause cause) {}

  /**
   * @param renewed lanes whose lease was prolonged, and how far each lags
   * @param owned lanes owned per live instance, this one included
   * @param free lanes without a valid lease
   * @param own lanes whose valid lease is this instance's
   * @param nextExpiry until the first lease of another instance expires, or null without one
   */
  record Standing(
      Map<Integer, Behind> renewed,
      Map<String, Integer> owned,
      Set<Integer> free,
      Set<Integer> own,
      @Nullable Duration nextExpiry,
      long parked) {}

  /**
   * @param newest the last checkpoint, whoever wrote it
   * @param blocked keys that have parked rows
   * @param parked seqs of parked rows, some of which the cursor will meet again
   * @param gone seqs of rows that were parked and are published or skipped, which the cursor will
   *     meet again
   * @param refused exchanges that took nothing
   */
  record Taken(
      String life,
      Checkpoint newest,
      long fence,
      Set<String> blocked,
      Set<Long> parked,
      Set<Long> gone,
      Map<String, ParkedReason> refused) {}

  /**
   * @param attempts 0 when it was not sent
   */
  record Parking(
      OutboxRow row,
      ParkedReason reason,
      @Nullable String detail,
      int attempts,
      Duration retryIn) {}
}
