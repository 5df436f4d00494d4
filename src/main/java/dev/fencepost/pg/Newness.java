package dev.fencepost.pg;

import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Whether the events of a group may be taken for new. An insert that need not look first costs a
 * quarter less; where an event was there after all it fails, and is made again by one that looks.
 */
final class Newness {
  private static final String UNIQUE_VIOLATION = "23505";

  /** After a duplicate more of them are likely: so many groups look first. */
  private static final int WARY_GROUPS = 100;

  private final AtomicInteger wary = new AtomicInteger();

  /**
   * @param insert told whether all may be taken for new; run once more with false when they were
   *     not
   */
  <T> Future<T> assume(List<Claim.Request> group, Function<Boolean, Future<T>> insert) {
    if (!likely(group)) {
      return insert.apply(false);
    }
    return insert
        .apply(true)
        .recover(
            failure -> {
              if (!UNIQUE_VIOLATION.equals(PgErrors.sqlState(failure))) {
                return Future.failedFuture(failure);
              }
              wary.set(WARY_GROUPS);
              return insert.apply(false);
            });
  }

  private boolean likely(List<Claim.Request> group) {
    boolean calm = wary.getAndUpdate(left -> Math.max(0, left - 1)) == 0;
    return calm && group.stream().noneMatch(Claim.Request::known);
  }
}
