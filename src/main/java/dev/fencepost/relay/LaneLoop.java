package dev.fencepost.relay;

import dev.fencepost.decide.LeaseRules;
import dev.fencepost.decide.Snapshot;
import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One owned lane: takes batches, reads their pages, publishes the rows and knows how far all are
 * settled. {@link RelayLoop} opens its batches and appends its checkpoints. Confined to one
 * context.
 *
 * <p>States: running → draining (no new pages; what is held is published) → stopped.
 */
public final class LaneLoop {
  private final Lane lane;
  private final RelaySettings settings;
  private final RelayPorts ports;
  private final LaneReader reader;
  private final LaneSender sender;
  private final InFlight rows;
  private final LaneBatches batches;
  private final LaneCheckpoints checkpoints;
  private final Refusals refusals;

  /** Rows that the cursor may meet again although they are settled: parked, or parked and gone. */
  private final Set<Long> settledAhead;

  private boolean reading;

  /** It wanted no batch when one was to be had. */
  private boolean passedOver;

  private boolean stopped;
  private boolean behind;
  private @Nullable Promise<Void> draining;

  /**
   * What a lane is told at its take-over.
   *
   * @param trust until when its lease may be trusted
   * @param total of all lanes
   * @param log of all lanes
   * @param wake asks for a batch or a checkpoint
   */
  record Lane(
      LaneStore.Taken taken,
      Publisher.TrustDeadline trust,
      ParkedTotal total,
      ParkedLog log,
      Runnable wake,
      Lost lost) {
    /** Runs what touches the lane. Where it fails nobody knows how the lane stands: it is void. */
    void guarded(Runnable step) {
      try {
        step.run();
      } catch (Throwable fault) { // an Error too: the lane would stand still for ever
        lost.because(fault);
      }
    }

    int number() {
      return taken.newest().lane();
    }

    String life() {
      return taken.life();
    }

    boolean trusted() {
      return LeaseRules.trusted(System.nanoTime(), trust.nanoTime());
    }
  }

  /** What a lane holds is void: it is to be stopped and, if still owned, taken again. */
  interface Lost {
    /**
     * @param fault of ours, or null when the database is not what the lane knew
     */
    void because(@Nullable Throwable fault);
  }

  LaneLoop(Vertx vertx, RelaySettings settings, RelayPorts ports, Lane lane) {
    this.lane = lane;
    this.settings = settings;
    this.ports = ports;
    this.reader = new LaneReader(ports.outbox(), lane.number(), lane.life());
    this.rows = new InFlight(settings.ordered());
    this.batches = new LaneBatches(lane.taken().newest().cursor());
    this.checkpoints = new LaneCheckpoints(lane.taken(), rows, batches, settings.checkpointRows());
    this.settledAhead = new HashSet<>(lane.taken().parked());
    settledAhead.addAll(lane.taken().gone());
    this.sender = new LaneSender(vertx, settings, ports, lane, rows, this::advance);
    this.refusals = sender.refusals();
  }

  void start() {
    guarded(sender::start);
    tick();
  }

  /** What fails within makes the lane void, and fails nobody else. */
  void guarded(Runnable step) {
    lane.guarded(step);
  }

  int number() {
    return lane.number();
  }

  String life() {
    return lane.life();
  }

  long fence() {
    return lane.taken().fence();
  }

  boolean stopped() {
    return stopped;
  }

  /** What is held is void. */
  void voided() {
    if (!stopped) {
      lane.lost().because(null);
    }
  }

  /** Operators ask something of parked rows. */
  void requested() {
    guarded(refusals::requested);
  }

  // Batches

  /** Whether it could take a batch now; where it could not, it asks for one when it can. */
  boolean wantsBatch() {
    boolean wants = takesBatch();
    passedOver |= !wants;
    return wants;
  }

  private boolean takesBatch() {
    return !stopped
        && draining == null
        && sender.ready()
        && batches.takesMore()
        && !refusals.full()
        && rows.size() <= settings.paging().window() / 2
        && rows.bytes() < settings.paging().windowBytes();
  }

  /** Whether a batch opened now would be empty. */
  boolean idle(long floor, Snapshot now) {
    boolean idle = batches.tip().idle(floor, now);
    behind = !idle || !rows.isEmpty();
    return idle;
  }

  /** Whether an open transaction may have rows for it. */
  boolean awaits() {
    return batches.tip().awaits();
  }

  OutboxStore.Opening opening() {
    Cursor tip = batches.tip();
    return new OutboxStore.Opening(lane.number(), Batch.Start.likely(tip), tip.last(), limit());
  }

  /** Takes the batch that lies between its last snapshot and this one, unless it drains by now. */
  void opened(OutboxStore.Opened opened, long floor, OutboxStore.Opening opening) {
    if (draining != null) {
      return;
    }
    Batch batch = batches.add(opened.cur(), floor);
    Batch.Start start = batch.start();
    if (start.old().length == 0 && opening.above() <= start.above()) {
      List<OutboxRow> page = opened.pages().getOrDefault(lane.number(), List.of());
      LaneReader.pageRead(batch, page, opening.limit());
      admit(batch, page);
    } // else a transaction with rows further back has ended: read from there
    checkpoints.moved();
    advance();
  }

  private OutboxStore.Limit limit() {
    long bytes = settings.paging().windowBytes() - rows.bytes();
    return new OutboxStore.Limit(settings.paging().size(), Math.max(1, bytes));
  }

  // Rows

  /** Publishes what may be published, reads the next page if there is room, parks the refused. */
  Future<Void> tick() {
    guarded(sender::pump);
    return Future.join(sound(this::read), sound(this::park)).mapEmpty();
  }

  /** A store that fails is asked again; anything else leaves the lane in an unknown state. */
  private Future<Void> sound(Supplier<Future<Void>> step) {
    return Attempt.of(step)
        .onFailure(
            failure -> {
              if (!(failure instanceof FencepostException) && !stopped) {
                lane.lost().because(failure);
              }
            });
  }

  private Future<Void> read() {
    Batch batch = batches.reading();
    boolean room =
        rows.size() <= settings.paging().window() && rows.bytes() < settings.paging().windowBytes();
    if (stopped || draining != null || reading || batch == null || !room || refusals.full()) {
      return Future.succeededFuture();
    }
    reading = true;
    return reader
        .next(batch, limit())
        .transform(
            page -> {
              reading = false;
              if (page.succeeded() && !stopped) {
                admit(batch, page.result());
              }
              if (page.succeeded() || draining != null) {
                advance();
              }
              return Outcomes.of(page);
            });
  }

  private void admit(Batch batch, List<OutboxRow> page) {
    for (OutboxRow row : page) {
      Held held = rows.admit(row, batch);
      if (!settledAhead.isEmpty() && settledAhead.remove(row.seq())) {
        rows.settle(held);
      } else if (!refusals.parker().takes(held)) {
        rows.enqueue(held);
      }
    }
  }

  /** Moves the cursor over what is settled, and goes on. */
  private void advance() {
    if (stopped) {
      return;
    }
    boolean moved = rows.advance();
    sender.giveWay(draining != null);
    if (batches.advance() || moved) {
      checkpoints.moved();
    }
    if (draining != null && drained()) {
      draining.tryComplete();
    }
    boolean again = passedOver && takesBatch();
    if (checkpoints.pressing() || again) {
      passedOver &= !again;
      lane.wake().run();
    }
    sender.observe();
    tick();
  }

  // Checkpoints

  /** The checkpoint to append now, or null; {@link #appended} follows. */
  @Nullable Checkpoint due(boolean forced) {
    return stopped ? null : checkpoints.due(forced);
  }

  /**
   * @param accepted false when it was refused: the lane is not ours any more, or the database is
   *     not what it was, and all that is held is void
   */
  void appended(Checkpoint checkpoint, boolean accepted) {
    if (stopped) {
      return;
    }
    if (accepted) {
      checkpoints.appended(checkpoint);
      advance();
    } else {
      voided();
    }
  }

  /** Puts refused rows, and those behind them, into safety together with the checkpoint. */
  private Future<Void> park() {
    if (stopped || checkpoints.appending() || !refusals.mayPark()) {
      return Future.succeededFuture();
    }
    Checkpoint checkpoint = checkpoints.next();
    Parker.Parking parking = refusals.take();
    return refusals.inTurn(() -> park(parking, checkpoint));
  }

  private Future<Void> park(Parker.Parking parking, Checkpoint checkpoint) {
    if (stopped) {
      return Future.succeededFuture();
    }
    return ports
        .lanes()
        .park(settings.instance(), lane.life(), parking.rows(), checkpoint)
        .transform(
            result -> {
              boolean accepted = result.succeeded() && result.result();
              if (accepted && !stopped) {
                refusals.parked(parking);
              }
              appended(checkpoint, accepted);
              return Outcomes.of(result);
            });
  }

  // End

  /** Publishes what is held and reads no more. Completes when nothing is out any more. */
  Future<Void> drain() {
    if (draining == null) {
      draining = Promise.promise();
      guarded(this::advance);
    }
    return draining.future();
  }

  private boolean drained() {
    return !checkpoints.appending()
        && !reading
        && (rows.isEmpty() || (rows.unconfirmed() == 0 && !sender.ready()));
  }

  /** Stops at once; what is out is void. */
  Future<Void> stop() {
    stopped = true;
    if (draining != null) {
      draining.tryComplete();
    }
    return sender.stop();
  }

  // Reports

  /** Its lease was prolonged: publishing that stopped for want of trust goes on. */
  void renewed(LaneStore.Behind behind) {
    ports.events().lag(lane.number(), behind.oldest(), behind.cause());
    guarded(sender::renewed);
    tick();
  }

  LaneStore.Report report() {
    return new LaneStore.Report(
        lane.number(),
        fence(),
        batches.settled().reached(),
        new LaneStore.Lag(sender.cause(), behind, sender.detail(), batches.tip().awaited()),
        refusals.rows());
  }
}
