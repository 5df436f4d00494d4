package dev.fencepost.worker;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * Instants that loops share: a hundred loops that look together wake the process as often as one
 * does. Who looks when is decided by the loops; here is only how long it is until the next instant.
 */
final class Beat {
  private static final long MILLI = Duration.ofMillis(1).toNanos();

  private final Timers timers;
  private final Supplier<Duration> period;
  private long next;
  private long shortest;
  private boolean begun;

  /**
   * @param period from one instant to the next, asked for each
   */
  Beat(Timers timers, Supplier<Duration> period) {
    this.timers = timers;
    this.period = period;
  }

  /**
   * Never longer than a period. One who comes just before an instant gets a quarter of a period to
   * itself, so that what takes long does not follow upon itself.
   */
  Duration pause() {
    long now = timers.nanos();
    if (!begun || next - now <= 0) {
      long whole = period.get().toNanos();
      begun = true;
      next = now + whole;
      shortest = whole / 4;
    }
    return Duration.ofNanos(Math.max(next - now, shortest));
  }

  /**
   * Until the next whole multiple of a period on the monotonic clock, which all who ask share.
   * Timers count in milliseconds: rounded down they would fire before the instant, and once more at
   * it.
   */
  static Duration untilWhole(Timers timers, Duration period) {
    long left = period.toNanos() - Math.floorMod(timers.nanos(), period.toNanos());
    return Duration.ofNanos((left + MILLI - 1) / MILLI * MILLI);
  }
}
