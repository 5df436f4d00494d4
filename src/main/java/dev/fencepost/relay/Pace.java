package dev.fencepost.relay;

import java.time.Duration;

/** How soon the outbox is looked at again: at once while there is work, then ever less often. */
final class Pace {
  /** Two marks are this far apart, whoever asks: each burns a transaction id. */
  static final Duration LEAST = Duration.ofMillis(2);

  /** While an open transaction has rows for us, it is looked for this often, for a while. */
  private static final Duration WATCH = Duration.ofMillis(10);

  private static final int WATCHES = 200;

  /** A pause of this length is worth telling the writers. */
  private static final Duration SLEEP = Duration.ofMillis(50);

  private Duration min;
  private Duration max;
  private Duration pause;
  private int watches;

  Pace(Duration min, Duration max) {
    this.min = min;
    this.max = max;
    this.pause = min;
  }

  /**
   * @param worked whether there was something to do
   * @param awaits whether an open transaction may have rows for us
   */
  Duration after(boolean worked, boolean awaits) {
    if (worked) {
      pause = min;
      watches = 0;
      return min;
    }
    Duration now = pause;
    Duration twice = pause.multipliedBy(2);
    pause = twice.compareTo(max) > 0 ? max : twice;
    return awaits && watches++ < WATCHES && now.compareTo(WATCH) > 0 ? WATCH : now;
  }

  /** Other bounds from now on. */
  void between(Duration least, Duration most) {
    min = least;
    max = most;
    pause = least;
  }

  /** The longest pause there may be now. */
  Duration max() {
    return max;
  }

  static boolean sleeps(Duration pause) {
    return pause.compareTo(SLEEP) >= 0;
  }
}
