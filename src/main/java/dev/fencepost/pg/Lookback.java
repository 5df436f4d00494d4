package dev.fencepost.pg;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How far back due rows are looked for. What was due before the last complete look has been seen by
 * it; looking there again would walk over the index entries that started rows leave behind, which
 * stay for as long as another session holds vacuum back. Once in a while all of it is looked at:
 * for rows that were locked. What waited behind its key is given a new due time by its release.
 */
final class Lookback {
  private static final long MARGIN = Duration.ofSeconds(10).toNanos();
  private static final long EVER = Duration.ofDays(3650).toMillis();

  private final long allEvery;
  private volatile @Nullable Span complete;
  private volatile @Nullable Span all;

  /**
   * @param allEvery how often all of it is looked at, and at the first time
   */
  Lookback(Duration allEvery) {
    this.allEvery = allEvery.toNanos();
  }

  /**
   * @param sent the monotonic clock before the statement
   * @param all whether everything is looked at
   */
  record Span(long sent, boolean all, long millis) {}

  Span span(long now) {
    Span before = complete;
    Span whole = all;
    if (before == null || whole == null || now - whole.sent >= allEvery || allEvery == 0) {
      return new Span(now, true, EVER);
    }
    return new Span(now, false, Duration.ofNanos(now - before.sent + MARGIN).toMillis());
  }

  /** The look left nothing unseen. */
  void done(Span span) {
    complete = span;
    if (span.all) {
      all = span;
    }
  }
}
