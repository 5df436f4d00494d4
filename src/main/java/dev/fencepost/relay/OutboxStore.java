package dev.fencepost.relay;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.OutboxRow;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Port: reads the append-only outbox. Every answer names the database's life, which changes with a
 * crash or failover: what was read in another one means nothing any more. Fails with a {@link
 * dev.fencepost.model.FencepostException}.
 */
public interface OutboxStore {

  /** One small statement for all lanes; assigns no transaction id. */
  Future<Poll> poll();

  /**
   * Marks: takes a transaction id and commits, with the checkpoints given, each only where {@code
   * owner} still owns its lane, the life is the same, and its predecessor is the newest.
   */
  Future<Marked> mark(String owner, String life, List<Checkpoint> checkpoints);

  /**
   * Marks, then takes a snapshot and reads in it the first page of each lane, without waiting
   * between the two. The sequence's last value is read before the transaction id is taken.
   */
  Turn open(String owner, String life, List<Checkpoint> checkpoints, List<Opening> lanes);

  /** A later page of a batch. Empty when the life has changed. */
  Future<List<OutboxRow>> page(PageRequest request);

  /**
   * Where the rows of long transactions that have ended lie in a lane: ascending, apart from each
   * other, with rows of others between them. It is looked for once for all lanes. Fails when the
   * life has changed.
   */
  Future<List<Span>> late(LateRequest request);

  /**
   * @param floor the sequence's last value, 0 before the first
   * @param requests whether operators ask something of parked rows
   */
  record Poll(String life, long floor, Snapshot now, boolean requests) {}

  /**
   * @param floor as of {@link Poll}
   * @param requests as of {@link Poll}
   * @param appended the lanes whose checkpoints were written
   */
  record Marked(String life, long floor, boolean requests, Set<Integer> appended) {}

  /**
   * @param above read rows with a greater seq
   * @param last read rows of transactions that this one did not see
   */
  record Opening(int lane, long above, Snapshot last, Limit limit) {}

  /**
   * A mark and what is read behind it.
   *
   * @param opened never before {@code marked}, and failed when that is; the mark counts even where
   *     this fails
   */
  record Turn(Future<Marked> marked, Future<Opened> opened) {}

  /**
   * @param rows at most
   * @param bytes of what rows take ({@link OutboxRow.Message#size}), the last row excluded; the
   *     first is always read
   */
  record Limit(int rows, long bytes) {
    /**
     * Whether a page of this limit may have left rows behind. A store must not count more than is
     * counted here: a page that it cut would pass for the last.
     */
    boolean reached(List<OutboxRow> page) {
      if (page.size() >= rows) {
        return true;
      }
      long sum = 0;
      for (OutboxRow row : page) {
        sum += row.message().size();
      }
      return sum >= bytes;
    }
  }

  /** By lane; one without rows is missing. */
  record Opened(String life, Snapshot cur, Map<Integer, List<OutboxRow>> pages) {}

  /**
   * @param upTo read no rows with a greater seq
   */
  record PageRequest(String life, Opening from, long upTo, Snapshot cur) {}

  record LateRequest(String life, int lane, long[] txs) {}

  /** The seqs above {@code above} up to {@code upTo}. */
  record Span(long above, long upTo) {}
}
