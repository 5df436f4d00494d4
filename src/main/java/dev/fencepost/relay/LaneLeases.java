package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.decide.LaneShares;
import dev.fencepost.decide.LeaseRules;
import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of this process: renews, takes its share, gives up what is above it. The lease
 * in the database decides; here is only how long it may be trusted, on the monotonic clock. Lanes
 * are taken beside the renewals, which wait for nothing.
 */
final class LaneLeases {
  private static final Logger LOG = LoggerFactory.getLogger(LaneLeases.class);

  private final LaneStore store;
  private final RelaySettings settings;
  private final Fleet fleet;

  /** Read by the threads that write to the broker, too. */
  private final Map<Integer, Long> trust = new ConcurrentHashMap<>();

  /** Lanes that are asked for, by one statement at a time. */
  private Future<Void> taking = Future.succeededFuture();

  private boolean failing;

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

  /**
   * Renews, and begins to take or give up what its share says; says when the next time is. It does
   * not wait for what it takes: that may hang, and the lanes that it has are not to hang with it.
   */
  Future<Duration> tick() {
    long sent = System.nanoTime();
    Map<Integer, LaneLoop> before = Map.copyOf(fleet.lanes());
    return store
        .renew(settings.instance(), times().ttl(), reports())
        .map(
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

  private void renewed(Map<Integer, LaneLoop> before, LaneStore.Standing standing, long sent) {
    before.forEach(
        (lane, loop) -> {
          if (fleet.lanes().get(lane) != loop) {
            return; // gone meanwhile, or taken anew
          }
          LaneStore.Behind behind = standing.renewed().get(lane);
          if (behind != null) {
            trusted(lane, sent);
            loop.guarded(() -> loop.renewed(behind));
          } else {
            fleet.lost(lane);
          }
        });
  }

  private void trusted(int lane, long sent) {
    Duration ttl = times().ttl();
    trust.put(lane, LeaseRules.trustUntil(sent, ttl, LeaseRules.margin(ttl)));
  }

  private Duration share(LaneStore.Standing standing) {
    if (!fleet.accepting()) {
      return times().renewEvery();
    }
    Set<Integer> staying = staying();
    int share = LaneShares.share(settings.relay().lanes(), standing.owned(), settings.instance());
    List<Integer> surplus = LaneShares.toGiveUp(staying, share);
    if (!surplus.isEmpty()) {
      fleet.handOver(surplus);
      return times().renewEvery();
    }
    if (!taking.isComplete()) {
      return pause(standing, staying.size() < share);
    }
    begin(wanted(standing, staying.size(), share));
    return pause(standing, !failing && staying().size() < share);
  }

  private Set<Integer> staying() {
    Set<Integer> staying = new HashSet<>(fleet.lanes().keySet());
    staying.removeAll(fleet.leaving());
    return staying;
  }

  private Set<Integer> wanted(LaneStore.Standing standing, int staying, int share) {
    Set<Integer> free = new HashSet<>(standing.free());
    free.addAll(standing.own()); // those that were dropped here are to be taken again
    free.removeAll(fleet.lanes().keySet());
    free.removeAll(fleet.resting());
    return Set.copyOf(LaneShares.toTake(free, staying, share, settings.instance().hashCode()));
  }

  private void begin(Set<Integer> lanes) {
    if (lanes.isEmpty()) {
      return;
    }
    taking = Attempt.of(() -> take(lanes)).onSuccess(v -> failing = false).onFailure(this::failed);
  }

  private void failed(Throwable failure) {
    if (!(failure instanceof FencepostException)) {
      LOG.error("taking lanes", failure); // a fault of ours
    } else if (!failing && fleet.accepting()) {
      LOG.warn("taking lanes: {}", failure.getMessage());
    }
    failing = true;
  }

  private Future<Void> take(Set<Integer> lanes) {
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
              return Future.succeededFuture();
            });
  }

  /** It is on its way out since it asked for them. */
  private Future<Void> giveBack(List<LaneStore.Taken> taken) {
    Map<Integer, Long> fences = new HashMap<>();
    taken.forEach(each -> fences.put(each.newest().lane(), each.fence()));
    return store.release(settings.instance(), fences);
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

  /** What it is being given is given back before. */
  Future<Void> leave() {
    return taking.transform(any -> store.leave(settings.instance()));
  }
}
