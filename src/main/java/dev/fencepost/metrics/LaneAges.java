package dev.fencepost.metrics;

import dev.fencepost.model.LagCause;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;

/** One age for each lane that this process owns, under the cause that holds now. */
final class LaneAges {
  private static final String NAME = "fencepost.relay.oldest.unpublished.age";
  private static final double NANOS = 1e9;

  private final Instruments instruments;
  private final long staleNanos;
  private final Map<Integer, Lane> lanes = new ConcurrentHashMap<>();

  LaneAges(Instruments instruments, Duration stale) {
    this.instruments = instruments;
    this.staleNanos = stale.toNanos();
  }

  void told(int lane, Duration oldest, LagCause cause) {
    lanes.compute(
        lane,
        (number, before) -> {
          Lane now = before == null || before.cause != cause ? new Lane(cause) : before;
          now.age = oldest.toNanos() / NANOS;
          now.toldAt = System.nanoTime();
          if (now != before) {
            register(number, before, now);
          }
          return now;
        });
  }

  /** Drops all others at once. */
  void retain(Set<Integer> owned) {
    dropUnless((number, lane) -> owned.contains(number));
  }

  void dropStale() {
    dropUnless((number, lane) -> !stale(lane));
  }

  private void dropUnless(BiPredicate<Integer, Lane> kept) {
    for (Integer number : lanes.keySet()) {
      lanes.computeIfPresent(
          number,
          (n, lane) -> {
            if (kept.test(n, lane)) {
              return lane;
            }
            instruments.removeGauge(NAME, tags(n, lane.cause));
            return null;
          });
    }
  }

  private boolean stale(Lane lane) {
    return System.nanoTime() - lane.toldAt >= staleNanos;
  }

  /** Over JMX a gauge is read without a word to us: a stale one has no value. */
  private double age(Lane lane) {
    return stale(lane) ? Double.NaN : lane.age;
  }

  private void register(int number, Lane before, Lane now) {
    if (before != null) {
      instruments.removeGauge(NAME, tags(number, before.cause));
    }
    instruments.gauge(
        NAME,
        "Age of the oldest row that is not published yet, and why it waits",
        tags(number, now.cause),
        now,
        this::age);
  }

  private static Tags tags(int lane, LagCause cause) {
    return Tags.of("lane", String.valueOf(lane), "cause", cause.wire());
  }

  private static final class Lane {
    final LagCause cause;
    volatile double age;
    volatile long toldAt;

    Lane(LagCause cause) {
      this.cause = cause;
    }
  }
}
