package dev.fencepost.relay;

import java.time.Duration;

/** How soon the outbox is looked at again: at once while there is work, then ever less often. */
final class Pace {
  /** Two marks are this far apart, whoever asks: each burns a transaction id. */
  static final Duration LEAST = Duration.ofMillis(2);

  private final Duration min;
  private final Duration max;
  private Duration pause;

  Pace(Duration min, Duration max) {
    this.min = min;
    this.max = max;
    this.pause = min;
  }

  Duration after(boolean worked) {
    if (worked) {
      pause = min;
      return min;
    }
    Duration now = pause;
    Duration twice = pause.multipliedBy(2);
    pause = twice.compareTo(max) > 0 ? max : twice;
    return now;
  }
}
