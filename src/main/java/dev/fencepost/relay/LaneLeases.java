package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.decide.LaneShares;
import dev.fencepost.decide.LeaseRules;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the leases of this process: renews, takes its share, gives up what is above it. The lease
 * in the database decides; here is only how long it may be trusted, on the monotonic clock.
 */
final class LaneLeases {
  private final LaneStore store;
  private final RelaySettings settings;
  private final Fleet fleet;
  private final Map<Integer, Long> trust = new HashMap<>();

  /** The lanes that run in this process. */
  interface Fleet {
    /** Rows parked in all lanes of all processes. */
    void parked(long rows);

    /** How soon one who is below its share looks for lanes that came free. */
    Duration lookAgain();

    /** False once it is on its way out. */
    boolean accepting();

    /** Owned lanes, draining ones included. */
    Map<Integer, LaneLoop> lanes();

    /** Lanes on their way out. */
    Set<Integer> leaving();

    void take(LaneStore.Taken taken, Publisher.TrustDeadline trust);

    /** Another owner has it. */
    void lost(int lane);

    void handOver(List<Integer> lanes);

    /** Lanes that failed here and are to be left alone for now. */
    Set<Integer> resting();
  }

  LaneLeases(LaneStore store, RelaySettings settings, Fleet fleet) {
    this.store = store;
    this.settings = settings;
    this.fleet = fleet;
  }

  private FencepostConfig.LeaseTimes times() {
    return settings.relay().lease();
  }

  /** Renews and shares once; says when the next time is. */
  Future<Duration> tick() {
    long sent = System.nanoTime();
    Set<Integer> before = Set.copyOf(fleet.lanes().keySet());
    return store
        .renew(settings.instance(), times().ttl(), reports())
        .compose(
            standing -> {
              fleet.parked(standing.parked());
              renewed(before, standing, sent);
              return share(standing);
            });
  }

  /** One that cannot be told of is not renewed, and is void; the others are. */
  private List<LaneStore.Report> reports() {
    List<LaneStore.Report> reports = new ArrayList<>();
    for (LaneLoop lane : List.copyOf(fleet.lanes().values())) {
      lane.guarded(() -> reports.add(lane.report()));
    }
    return reports;
  }

  private void renewed(Set<Integer> before, LaneStore.Standing standing, long sent) {
    for (int lane : before) {
      LaneLoop loop = fleet.lanes().get(lane);
      LaneStore.Behind behind = standing.renewed().get(lane);
      if (behind != null) {
        trusted(lane, sent);
        if (loop != null) {
          loop.guarded(() -> loop.renewed(behind));
        }
      } else if (loop != null) {
        fleet.lost(lane);
      }
    }
  }

  private void trusted(int lane, long sent) {
    Duration ttl = times().ttl();
    trust.put(lane, LeaseRules.trustUntil(sent, ttl, LeaseRules.margin(ttl)));
  }

  private Future<Duration> share(LaneStore.Standing standing) {
    if (!fleet.accepting()) {
      return Future.succeededFuture(times().renewEvery());
    }
    Set<Integer> staying = new HashSet<>(fleet.lanes().keySet());
    staying.removeAll(fleet.leaving());
    int share = LaneShares.share(settings.relay().lanes(), standing.owned(), settings.instance());
    List<Integer> surplus = LaneShares.toGiveUp(staying, share);
    if (!surplus.isEmpty()) {
      fleet.handOver(surplus);
      return Future.succeededFuture(times().renewEvery());
    }
    Set<Integer> free = new HashSet<>(standing.free());
    free.addAll(standing.own()); // those that were dropped here are to be taken again
    free.removeAll(fleet.lanes().keySet());
    free.removeAll(fleet.resting());
    List<Integer> wanted =
        LaneShares.toTake(free, staying.size(), share, settings.instance().hashCode());
    return take(Set.copyOf(wanted)).map(taken -> pause(standing, staying.size() + taken < share));
  }

  private Future<Integer> take(Set<Integer> lanes) {
    if (lanes.isEmpty()) {
      return Future.succeededFuture(0);
    }
    long sent = System.nanoTime();
    return store
        .take(settings.instance(), times().ttl(), lanes)
        .compose(
            taken -> {
              if (!fleet.accepting()) {
                return giveBack(taken);
              }
              for (LaneStore.Taken each : taken) {
                int lane = each.newest().lane();
                trusted(lane, sent);
                fleet.take(each, () -> trust.getOrDefault(lane, sent));
              }
              return Future.succeededFuture(taken.size());
            });
  }

  /** It is on its way out since it asked for them. */
  private Future<Integer> giveBack(List<LaneStore.Taken> taken) {
    Map<Integer, Long> fences = new HashMap<>();
    taken.forEach(each -> fences.put(each.newest().lane(), each.fence()));
    return store.release(settings.instance(), fences).map(0);
  }

  /** Below its share it looks again soon, and just when a lease of another may expire. */
  private Duration pause(LaneStore.Standing standing, boolean hungry) {
    Duration pause = hungry ? fleet.lookAgain() : times().renewEvery();
    Duration expiry = standing.nextExpiry();
    if (expiry != null && expiry.compareTo(pause) < 0) {
      pause = expiry.plusMillis(1);
    }
    return pause.compareTo(times().renewEvery()) > 0 ? times().renewEvery() : pause;
  }

  Future<Void> release(LaneLoop lane) {
    return store.release(settings.instance(), Map.of(lane.number(), lane.fence()));
  }

  Future<Void> leave() {
    return store.leave(settings.instance());
  }
}
