package dev.fencepost.worker;

import dev.fencepost.decide.RetryBudget;
import java.time.Duration;
import java.util.Arrays;

/**
 * First starts by the second in which they began, as far back as a retry budget looks. What is
 * older is forgotten: those of a long quiet time would allow as many retries at the first failure.
 */
final class RecentStarts {
  private static final int SECONDS = (int) RetryBudget.WINDOW.toSeconds();
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final long[] counts = new long[SECONDS];
  private long newest;

  void add(long nanos) {
    forget(nanos);
    counts[slot(newest)]++;
  }

  /** Takes out all there are; by their age in whole seconds. */
  long[] take(long nanos) {
    forget(nanos);
    long[] byAge = new long[SECONDS];
    for (int age = 0; age < SECONDS; age++) {
      byAge[age] = counts[slot(newest - age)];
    }
    Arrays.fill(counts, 0);
    return byAge;
  }

  /** Puts back what was taken at {@code takenNanos}. */
  void putBack(long[] byAge, long takenNanos, long nanos) {
    forget(nanos);
    long taken = Math.floorDiv(takenNanos, SECOND);
    for (int age = 0; age < SECONDS && newest - (taken - age) < SECONDS; age++) {
      counts[slot(taken - age)] += byAge[age];
    }
  }

  private void forget(long nanos) {
    long now = Math.floorDiv(nanos, SECOND);
    for (long second = Math.max(newest + 1, now - SECONDS + 1); second <= now; second++) {
      counts[slot(second)] = 0;
    }
    newest = Math.max(newest, now);
  }

  private static int slot(long second) {
    return Math.floorMod(second, SECONDS);
  }
}
