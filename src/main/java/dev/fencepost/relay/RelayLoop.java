package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Attempt;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relay of one process: its lanes, their leases, and the pace at which batches are opened.
 * Confined to the context that starts it.
 */
public final class RelayLoop implements LaneLeases.Fleet {
  private static final Logger LOG = LoggerFactory.getLogger(RelayLoop.class);
  private static final Duration DRAIN = Duration.ofSeconds(10);

  private final Vertx vertx;
  private final RelaySettings settings;
  private final RelayPorts ports;
  private final Map<Integer, LaneLoop> lanes = new HashMap<>();
  private final Set<Integer> leaving = new HashSet<>();
  private final LaneLeases leases;
  private final BatchOpener opener;
  private final Pace pace;
  private final Repeating turns;
  private final Repeating renewals;
  private final Upkeep upkeep;
  private final ParkedTotal total;
  private final ParkedLog log = new ParkedLog(LOG::warn, LOG::info, System::nanoTime);
  private final Relapses relapses = new Relapses(System::nanoTime);
  private boolean stopping;
  private boolean asleep;
  private boolean busy;

  public RelayLoop(Vertx vertx, RelaySettings settings, RelayPorts ports) {
    this.vertx = vertx;
    this.settings = settings;
    this.ports = ports;
    this.total = new ParkedTotal(settings.relay().limits().parkedMaxRows());
    this.pace = new Pace(settings.paging().pollMin(), settings.paging().pollMax());
    this.leases = new LaneLeases(ports.lanes(), settings, this);
    this.opener = new BatchOpener(ports.outbox(), settings.instance());
    this.turns = new Repeating(vertx, "reading the outbox", this::turn).atMostEvery(Pace.LEAST);
    this.renewals = new Repeating(vertx, "renewing lanes", leases::tick);
    this.upkeep = new Upkeep(vertx, settings, ports.upkeep(), () -> lanes);
  }

  /** Starts taking lanes and publishing them. Returns at once. */
  public void start() {
    LOG.info("relay {} starts", settings.instance());
    renewals.start();
    turns.start();
    upkeep.start();
    ports.doorbell().listen(this::wake);
  }

  /** Looks at the outbox now, sooner than by pace. */
  public void wake() {
    asleep = false;
    turns.soon();
  }

  /** Looks at the outbox at another pace from now on. */
  void reloaded(FencepostConfig.Relay.Paging paging) {
    pace.between(paging.pollMin(), paging.pollMax());
    wake();
  }

  @Override
  public Duration lookAgain() {
    return pace.max();
  }

  private Future<Duration> turn() {
    if (lanes.isEmpty()) {
      return Future.succeededFuture(pace.max());
    }
    boolean expecting = busy;
    busy = false;
    long begun = System.nanoTime();
    return (expecting ? opener.next(lanes.values()) : opener.turn(lanes.values()))
        .map(
            turn -> {
              busy = turn.opened();
              List.copyOf(lanes.values()).forEach(LaneLoop::tick);
              if (turn.requests()) {
                List.copyOf(lanes.values()).forEach(LaneLoop::requested);
              }
              boolean awaits = lanes.values().stream().anyMatch(LaneLoop::awaits);
              return pace.after(turn.opened(), awaits);
            })
        .compose(this::rest)
        .map(pause -> left(pause, Duration.ofNanos(System.nanoTime() - begun)));
  }

  /**
   * What is left of a pause that began with the turn. A turn that took longer is followed by a rest
   * of as much, or of half its own time: where all processors are busy looking has its share only.
   */
  static Duration left(Duration pause, Duration turn) {
    Duration longer = turn.minus(pause);
    Duration half = turn.dividedBy(2);
    return longer.isNegative() ? longer.negated() : longer.compareTo(half) < 0 ? longer : half;
  }

  /** Before a longer pause the writers are told, and the outbox is looked at once more. */
  private Future<Duration> rest(Duration pause) {
    if (!Pace.sleeps(pause)) {
      asleep = false;
      return Future.succeededFuture(pause);
    }
    if (asleep) {
      return Future.succeededFuture(pause);
    }
    return ports
        .doorbell()
        .asleep()
        .map(
            told -> {
              asleep = told;
              return told ? Duration.ZERO : pause;
            });
  }

  @Override
  public void parked(long rows) {
    log.flush();
    total.set(rows);
    ports.events().parked(rows);
  }

  @Override
  public boolean accepting() {
    return !stopping;
  }

  @Override
  public Map<Integer, LaneLoop> lanes() {
    return lanes;
  }

  @Override
  public Set<Integer> leaving() {
    return leaving;
  }

  @Override
  public void take(LaneStore.Taken taken, Publisher.TrustDeadline trust) {
    try {
      begin(taken, trust);
    } catch (Throwable fault) { // the other lanes are to be taken nevertheless
      int number = taken.newest().lane();
      LOG.error("lane {} fence={} cannot be begun; it is taken anew", number, taken.fence(), fault);
      relapses.failed(number);
    }
  }

  private void begin(LaneStore.Taken taken, Publisher.TrustDeadline trust) {
    int number = taken.newest().lane();
    LaneLoop[] self = new LaneLoop[1];
    LaneLoop.Lane lane =
        new LaneLoop.Lane(taken, trust, total, log, turns::soon, fault -> voided(self[0], fault));
    LaneLoop loop = new LaneLoop(vertx, settings, ports, lane);
    self[0] = loop;
    LaneLoop before = lanes.put(number, loop);
    if (before != null) {
      before.stop();
    }
    leaving.remove(number);
    LOG.info("lane {} taken fence={}", number, taken.fence());
    tellOwned();
    loop.start();
    turns.soon();
  }

  @Override
  public void lost(int number) {
    LaneLoop lane = lanes.get(number);
    if (lane != null) {
      drop(lane, "was lost to another owner");
    }
  }

  private void voided(LaneLoop lane, @Nullable Throwable fault) {
    if (fault == null) {
      drop(lane, "is to be read again");
    } else if (lanes.get(lane.number()) == lane) {
      LOG.error(
          "lane {} fence={} failed and is given up; it is taken anew",
          lane.number(),
          lane.fence(),
          fault);
      relapses.failed(lane.number());
      forget(lane);
      renewals.soon();
    }
  }

  private void drop(LaneLoop lane, String why) {
    LOG.warn("lane {} fence={} {}", lane.number(), lane.fence(), why);
    forget(lane);
    renewals.soon();
  }

  @Override
  public Set<Integer> resting() {
    return relapses.resting();
  }

  private Future<Void> forget(LaneLoop lane) {
    lanes.remove(lane.number(), lane);
    leaving.remove(lane.number());
    Future<Void> stopped = Attempt.of(lane::stop);
    tellOwned(); // last: nothing more is told of it
    return stopped;
  }

  private void tellOwned() {
    ports.events().lanesOwned(Set.copyOf(lanes.keySet()));
  }

  @Override
  public void handOver(List<Integer> numbers) {
    for (int number : numbers) {
      LaneLoop lane = lanes.get(number);
      if (lane != null && leaving.add(number)) {
        LOG.info("lane {} is handed over", number);
        release(lane);
      }
    }
  }

  /** Drains, appends the last checkpoint, and gives the lease back. */
  private Future<Void> release(LaneLoop lane) {
    Future<Void> drained = Outcomes.within(vertx, DRAIN, lane.drain());
    return drained
        .transform(any -> opener.close(lane))
        .transform(any -> forget(lane))
        .transform(any -> leases.release(lane))
        .onFailure(e -> LOG.warn("lane {} was not given back: {}", lane.number(), e.getMessage()));
  }

  /** Drains all lanes and leaves. */
  public Future<Void> stop() {
    if (stopping) {
      return Future.succeededFuture();
    }
    stopping = true;
    List<Future<Void>> drains = new ArrayList<>();
    for (LaneLoop lane : List.copyOf(lanes.values())) {
      leaving.add(lane.number());
      drains.add(release(lane));
    }
    // Checkpoints and renewals go on until nothing is owned any more.
    return Future.join(drains)
        .transform(any -> Future.join(turns.stop(), upkeep.stop(), ports.doorbell().close()))
        .transform(any -> renewals.stop())
        .transform(any -> leases.leave())
        .otherwiseEmpty();
  }
}
