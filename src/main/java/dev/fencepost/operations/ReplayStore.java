package dev.fencepost.operations;

import io.vertx.core.Future;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Port: copies retained rows of the outbox into new ones. */
public interface ReplayStore {

  /** The database's time. */
  Future<Instant> now();

  /**
   * Copies the next rows in order (same event id, header {@code fencepost-replay}), in one
   * transaction; rows that are copies are not copied again. With {@code request.dryRun()} it only
   * finds them.
   *
   * @param request with {@code until} set
   * @param after the cursor of the step before, or null for the first
   */
  Future<Step> step(ReplayRequest request, @Nullable String after, int limit);

  /**
   * Appends to the audit log that it starts or, with the rows it copied, that it has ended.
   *
   * @param request with {@code until} set
   */
  Future<Void> noted(ReplayRequest request, Who by, @Nullable Long rows);

  /**
   * @param next null when nothing is left
   */
  record Step(long rows, @Nullable String next) {}
}
