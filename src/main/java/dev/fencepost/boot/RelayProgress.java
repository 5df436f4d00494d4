package dev.fencepost.boot;

import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.operations.Readiness;
import dev.fencepost.relay.RelayEvents;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The relay's events on their way to the metrics, watched for lanes that publish nothing while rows
 * wait. Written on the relay's context, read from any.
 */
final class RelayProgress implements RelayEvents {

  /** What stops a lane; a parked key or an open transaction stops only rows of its own. */
  private static final Set<LagCause> STANDSTILL =
      EnumSet.of(LagCause.BROKER_DOWN, LagCause.BROKER_BLOCKED, LagCause.PARKED_FULL);

  private record Lag(Duration oldest, LagCause cause) {}

  private final RelayEvents metrics;
  private final Map<Integer, Lag> lanes = new ConcurrentHashMap<>();

  RelayProgress(RelayEvents metrics) {
    this.metrics = metrics;
  }

  /** Why the relay makes no progress; empty when it does, or has nothing to do. */
  Optional<Readiness.Reason> standstill() {
    return lanes.entrySet().stream()
        .filter(lane -> STANDSTILL.contains(lane.getValue().cause()))
        .min(Map.Entry.comparingByKey())
        .map(lane -> reason(lane.getKey(), lane.getValue()));
  }

  private static Readiness.Reason reason(int lane, Lag lag) {
    String cause = lag.cause().wire();
    return new Readiness.Reason(
        "relay",
        cause,
        "lane "
            + lane
            + " publishes nothing: "
            + cause
            + ", oldest row waits for "
            + lag.oldest().toSeconds()
            + " s");
  }

  @Override
  public void lag(int lane, Duration oldest, LagCause cause) {
    lanes.put(lane, new Lag(oldest, cause));
    metrics.lag(lane, oldest, cause);
  }

  @Override
  public void lanesOwned(Set<Integer> owned) {
    lanes.keySet().retainAll(owned);
    metrics.lanesOwned(owned);
  }

  @Override
  public void published(int lane, int rows) {
    metrics.published(lane, rows);
  }

  @Override
  public void refused(ParkedReason reason) {
    metrics.refused(reason);
  }

  @Override
  public void confirmed(Duration took) {
    metrics.confirmed(took);
  }

  @Override
  public void unconfirmed(int lane, int rows) {
    metrics.unconfirmed(lane, rows);
  }

  @Override
  public void parked(long rows) {
    metrics.parked(rows);
  }
}
