package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Port: redrives and discards dead letters. Each item is on its own: one that cannot be changed
 * leaves the others as they would be without it. Only open ones change; a second call is a no-op.
 */
public interface DeadLetterChanges {

  /**
   * Starts a new generation of each event, with a fresh budget, from the body kept in the database;
   * marks the dead letter {@code redriven}; appends to the audit log.
   *
   * @param ids at most 100
   * @return one outcome per id: REDRIVEN, UNCHANGED, NOT_FOUND or FAILED (with the reason); fails
   *     as a whole only when the database cannot be reached
   */
  Future<List<Change>> redrive(List<Long> ids, Who who);

  /** Marks each {@code discarded}; outcomes DISCARDED, UNCHANGED, NOT_FOUND or FAILED. */
  Future<List<Change>> discard(List<Long> ids, Who who);

  /**
   * @param detail what to say about it, or null
   */
  record Change(long id, BulkResult.Outcome outcome, @Nullable String detail) {}
}
