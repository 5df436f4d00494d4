package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All of a lane that deals with rows the broker refuses. */
final class Refusals {
  private final RelaySettings settings;
  private final Quarantine quarantine;
  private final Quarantine trials;
  private final Silence silence;
  private final Destinations destinations;
  private final Suspects suspects;
  private final Parker parker;
  private final ParkedLoop loop;
  private final ParkedTotal total;
  private final ParkedLog log;
  private final InTurn changes = new InTurn();

  Refusals(
      Vertx vertx,
      RelaySettings settings,
      RelayPorts ports,
      LaneLoop.Lane lane,
      InFlight rows,
      Suspects.Court court) {
    this.settings = settings;
    this.total = lane.total();
    this.log = lane.log();
    FencepostConfig.Relay.Limits limits = settings.relay().limits();
    destinations = new Destinations(limits);
    lane.taken().refused().forEach(destinations::refuse);
    quarantine = quarantine(vertx, ports, lane, Quarantine.Kind.SUSPECTS);
    trials = quarantine(vertx, ports, lane, Quarantine.Kind.SILENT);
    silence = new Silence(vertx, lane.number(), limits, rows, trials, court);
    suspects = new Suspects(rows, quarantine, court, silence);
    parker = new Parker(rows, destinations, lane.taken().blocked());
    ParkedLoop.Desk desk =
        new ParkedLoop.Desk(
            quarantine, trials, parker, destinations, total, log, ports.events(), changes);
    loop = new ParkedLoop(vertx, settings, ports.parked(), lane, desk);
  }

  private Quarantine quarantine(
      Vertx vertx, RelayPorts ports, LaneLoop.Lane lane, Quarantine.Kind kind) {
    return new Quarantine(
        vertx, ports.publisher(), lane, kind, settings.relay().limits().confirmTimeout());
  }

  void start() {
    loop.start();
  }

  Parker parker() {
    return parker;
  }

  /** The channel was closed because of one of these. */
  void accuse(List<Held> unconfirmed, ParkedReason reason) {
    suspects.accuse(unconfirmed, reason, settings.ordered());
  }

  Silence silence() {
    return silence;
  }

  /** Rows that are not confirmed are parked where they stand in the way. */
  void giveWay(boolean tight) {
    if (tight && !silence.none()) {
      silence.giveWay(parker);
    }
  }

  void requested() {
    loop.requested();
  }

  Parker.Parking take() {
    return parker.take(total.room());
  }

  boolean mayPark() {
    return parker.pending() && !total.full();
  }

  /** Rows wait to be parked and there is no room. */
  boolean full() {
    return parker.pending() && total.full();
  }

  /** In turn with what else changes the lane's parked rows. */
  <T> Future<T> inTurn(Supplier<Future<T>> change) {
    return changes.run(change);
  }

  void parked(Parker.Parking parking) {
    parker.parked(parking);
    total.add(parking.rows().size());
    loop.parked(parking.rows().size());
    for (LaneStore.Parking each : parking.rows()) {
      if (each.reason() != ParkedReason.BEHIND_KEY) {
        log.parked(each.row(), each.reason(), each.detail());
      }
    }
  }

  void renewed() {
    quarantine.pump();
    trials.pump();
  }

  LagCause cause() {
    if (full()) {
      return LagCause.PARKED_FULL;
    }
    return loop.rows() > 0 || silence.detail() != null ? LagCause.KEY_PARKED : LagCause.NONE;
  }

  /** Where rows go that are not confirmed, or null. */
  @Nullable String detail() {
    ParkedRows.Destination silent = destinations.anySilent();
    return silent == null ? silence.detail() : Silence.told(silent);
  }

  long rows() {
    return loop.rows();
  }

  Future<Void> stop() {
    return Future.join(quarantine.stop(), trials.stop(), loop.stop()).mapEmpty();
  }
}
