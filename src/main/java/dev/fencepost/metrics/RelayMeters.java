package dev.fencepost.metrics;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.RelayEvents;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** The relay's metrics. */
final class RelayMeters implements RelayEvents {
  private final Counter[] published;
  private final Map<ParkedReason, Counter> refused = new EnumMap<>(ParkedReason.class);
  private final Timer confirm;
  private final AtomicIntegerArray unconfirmed;
  private final AtomicLong parked = new AtomicLong();
  private final AtomicInteger owned = new AtomicInteger();
  private final LaneAges ages;

  /**
   * @param lanes how many there are
   * @param stale after so long without news, as while the database is away, a lane may be somebody
   *     else's
   */
  RelayMeters(Instruments instruments, int lanes, Duration stale) {
    published = new Counter[lanes];
    for (int lane = 0; lane < lanes; lane++) {
      published[lane] =
          instruments.counter(
              "fencepost.relay.published",
              "Rows that the broker confirmed",
              Tags.of("lane", String.valueOf(lane)));
    }
    for (ParkedReason reason : ParkedReason.values()) {
      refused.put(
          reason,
          instruments.counter(
              "fencepost.relay.refused",
              "Rows that were refused and parked",
              Tags.of("reason", reason.wire())));
    }
    confirm =
        instruments.timer(
            "fencepost.relay.confirm",
            "From the write to the broker's confirm",
            Tags.empty(),
            Buckets.confirm());
    unconfirmed = new AtomicIntegerArray(lanes);
    instruments.gauge(
        "fencepost.relay.unconfirmed",
        "Messages written and not confirmed yet",
        Tags.empty(),
        unconfirmed,
        RelayMeters::sum);
    instruments.gauge(
        "fencepost.relay.parked", "Parked rows", Tags.empty(), parked, AtomicLong::doubleValue);
    instruments.gauge(
        "fencepost.relay.lanes.owned",
        "Lanes that this process owns",
        Tags.empty(),
        owned,
        AtomicInteger::doubleValue);
    ages = new LaneAges(instruments, stale);
  }

  /** Before the metrics are read: drops lanes that may have gone elsewhere. */
  void refresh() {
    ages.dropStale();
  }

  @Override
  public void published(int lane, int rows) {
    if (known(lane)) {
      published[lane].increment(rows);
    }
  }

  @Override
  public void refused(ParkedReason reason) {
    Counter counter = refused.get(reason);
    if (counter != null) {
      counter.increment();
    }
  }

  @Override
  public void confirmed(Duration took) {
    confirm.record(took);
  }

  @Override
  public void unconfirmed(int lane, int rows) {
    if (known(lane)) {
      unconfirmed.set(lane, rows);
    }
  }

  @Override
  public void lag(int lane, Duration oldest, LagCause cause) {
    if (known(lane)) {
      ages.told(lane, oldest, cause);
    }
  }

  @Override
  public void parked(long rows) {
    parked.set(rows);
  }

  @Override
  public void lanesOwned(Set<Integer> lanes) {
    owned.set(lanes.size());
    for (int lane = 0; lane < unconfirmed.length(); lane++) {
      if (!lanes.contains(lane)) {
        unconfirmed.set(lane, 0);
      }
    }
    ages.retain(lanes);
  }

  private boolean known(int lane) {
    return lane >= 0 && lane < published.length;
  }

  private static double sum(AtomicIntegerArray values) {
    long sum = 0;
    for (int i = 0; i < values.length(); i++) {
      sum += values.get(i);
    }
    return sum;
  }
}
