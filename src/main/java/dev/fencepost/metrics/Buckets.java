package dev.fencepost.metrics;

import java.time.Duration;
import java.util.stream.LongStream;

/** Upper bounds of the histograms, from the shortest worth telling apart to the longest in use. */
final class Buckets {
  /** Broker round trips: half a millisecond to the default confirm timeout. */
  private static final long[] CONFIRM_MICROS = {
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    5_000_000,
    30_000_000
  };

  /** Runs and deliveries: a millisecond to half an hour, the broker's usual timeout. */
  private static final long[] RUN_MILLIS = {
    1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000
  };

  private Buckets() {}

  static Duration[] confirm() {
    return LongStream.of(CONFIRM_MICROS)
        .mapToObj(m -> Duration.ofNanos(m * 1_000))
        .toArray(n -> new Duration[n]);
  }

  static Duration[] run() {
    return LongStream.of(RUN_MILLIS).mapToObj(Duration::ofMillis).toArray(n -> new Duration[n]);
  }
}
