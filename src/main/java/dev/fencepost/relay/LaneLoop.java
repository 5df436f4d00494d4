package dev.fencepost.relay;

import dev.fencepost.decide.LeaseRules;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One owned lane: takes batches, reads their pages, publishes the rows and knows how far all are
 * settled. {@link RelayLoop} opens its batches and appends its checkpoints. Confined to one
 * context.
 *
 * <p>States: running → draining (no new pages; what is held is published) → stopped.
 */
public final class LaneLoop implements LaneChannel.Owner {
  private static final long QUIET_NANOS = 100_000_000L;
  private static final long THIN_NANOS = 2_000_000_000L;
  private static final int MOST_BATCHES = 64;

  private final Lane lane;
  private final RelaySettings settings;
  private final RelayPorts ports;
  private final LaneReader reader;
  private final LaneChannel channel;
  private final InFlight rows;
  private final Parker parker;
  private final Deque<Batch> batches = new ArrayDeque<>();
  private final Set<Long> parkedAhead;

  private Cursor base;
  private Checkpoint newest;
  private boolean moved;
  private boolean appending;
  private long appendedAt;
  private boolean reading;
  private boolean stopped;
  private boolean behind;
  private @Nullable Promise<Void> draining;

  /**
   * What a lane is told at its take-over.
   *
   * @param trust until when its lease may be trusted
   * @param wake asks for a batch or a checkpoint
   * @param lost what is held is void: to be stopped and, if still owned, taken again
   */
  record Lane(LaneStore.Taken taken, Publisher.TrustDeadline trust, Runnable wake, Runnable lost) {
    int number() {
      return taken.newest().lane();
    }

    String life() {
      return taken.life();
    }
  }

  LaneLoop(Vertx vertx, RelaySettings settings, RelayPorts ports, Lane lane) {
    this.lane = lane;
    this.settings = settings;
    this.ports = ports;
    this.reader = new LaneReader(ports.outbox(), lane.number(), lane.life());
    this.rows = new InFlight(settings.ordered());
    this.newest = lane.taken().newest();
    this.parkedAhead = new HashSet<>(lane.taken().parked());
    this.channel =
        new LaneChannel(vertx, ports.publisher(), "lane-" + lane.number(), lane.trust(), this);
    this.parker = new Parker(settings, rows, lane.taken().blocked());
    Cursor cursor = newest.cursor();
    this.base = new Cursor(cursor.last(), cursor.floor(), cursor.floors(), null, 0);
    if (cursor.ahead() != null) {
      batches.add(new Batch(base, cursor.ahead(), cursor.position()));
    }
    this.appendedAt = System.nanoTime();
  }

  void start() {
    channel.start();
    tick();
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

  /** What is held is void. */
  void voided() {
    if (!stopped) {
      lane.lost().run();
    }
  }

  boolean stopped() {
    return stopped;
  }

  // Batches

  /** Whether it could take a batch now. */
  boolean wantsBatch() {
    Batch last = batches.peekLast();
    return !stopped
        && draining == null
        && channel.usable()
        && (last == null || last.whole())
        && batches.size() < MOST_BATCHES
        && rows.size() <= settings.paging().window() / 2
        && rows.bytes() < settings.paging().windowBytes();
  }

  /** Whether a batch opened now would be empty. */
  boolean idle(OutboxStore.Poll poll) {
    boolean idle = tip().idle(poll.floor(), poll.now());
    behind = !idle || !rows.isEmpty();
    return idle;
  }

  OutboxStore.Opening opening(OutboxStore.Poll poll) {
    Batch.Start start = Batch.Start.of(tip(), poll.now());
    return new OutboxStore.Opening(lane.number(), start.above(), tip().last(), limit());
  }

  /** Takes the batch that lies between its last snapshot and this one. */
  void opened(OutboxStore.Opened opened, long floor, OutboxStore.Opening opening) {
    Batch batch = new Batch(tip(), new Cursor.Ahead(opened.cur(), floor), 0);
    batches.add(batch);
    Batch.Start start = batch.start();
    if (start.old().length == 0 && start.above() == opening.above()) {
      List<OutboxRow> page = opened.pages().getOrDefault(lane.number(), List.of());
      admit(batch, page);
      LaneReader.pageRead(batch, page, opening.limit());
    } // else a transaction with rows further back ended meanwhile: read from there
    moved = true;
    advance();
  }

  private Cursor tip() {
    Batch last = batches.peekLast();
    return last == null ? base : last.after();
  }

  private OutboxStore.Limit limit() {
    long bytes = settings.paging().windowBytes() - rows.bytes();
    return new OutboxStore.Limit(settings.paging().size(), Math.max(1, bytes));
  }

  // Rows

  /** Publishes what may be published and reads the next page if there is room. */
  Future<Void> tick() {
    pump();
    return Future.join(read(), park()).mapEmpty();
  }

  private Future<Void> read() {
    Batch last = batches.peekLast();
    boolean room =
        rows.size() <= settings.paging().window() && rows.bytes() < settings.paging().windowBytes();
    if (stopped || draining != null || reading || last == null || last.whole() || !room) {
      return Future.succeededFuture();
    }
    reading = true;
    return reader
        .next(last, limit())
        .transform(
            page -> {
              reading = false;
              if (page.succeeded() && !stopped) {
                admit(last, page.result());
                advance();
              }
              return Outcomes.of(page);
            });
  }

  private void admit(Batch batch, List<OutboxRow> page) {
    for (OutboxRow row : page) {
      Held held = rows.admit(row, batch);
      if (!parkedAhead.isEmpty() && parkedAhead.remove(row.seq())) {
        rows.settle(held);
      } else if (!parker.takes(held)) {
        rows.enqueue(held);
      }
    }
  }

  private void pump() {
    if (stopped || !channel.usable() || !trusted() || !rows.hasReady()) {
      return;
    }
    int room = settings.paging().window() - rows.exposed();
    long now = System.nanoTime();
    List<OutboxRow> out = new ArrayList<>();
    Held held;
    while ((held = rows.poll(room > 0)) != null) {
      if (!held.exposed) {
        room--;
      }
      rows.markSent(held, now);
      out.add(held.row);
    }
    if (!out.isEmpty()) {
      ports.events().unconfirmed(lane.number(), rows.unconfirmed());
      channel.publish(out);
    }
  }

  private boolean trusted() {
    return LeaseRules.trusted(System.nanoTime(), lane.trust().nanoTime());
  }

  @Override
  public void settled(List<Publisher.Verdict> verdicts) {
    if (stopped) {
      return;
    }
    channel.proven();
    long oldest = System.nanoTime();
    int published = 0;
    for (Publisher.Verdict verdict : verdicts) {
      Held held = rows.answered(verdict.seq());
      if (held == null) {
        continue;
      }
      oldest = Math.min(oldest, held.sentAt);
      if (verdict.refusal() == null) {
        rows.settle(held);
        published++;
      } else {
        ports.events().refused(verdict.refusal());
        parker.refused(held, verdict.refusal(), verdict.detail());
      }
    }
    ports.events().published(lane.number(), published);
    ports.events().confirmed(Duration.ofNanos(System.nanoTime() - oldest));
    ports.events().unconfirmed(lane.number(), rows.unconfirmed());
    advance();
  }

  /** Moves the cursor over what is settled, and goes on. */
  private void advance() {
    moved |= rows.advance();
    Batch first;
    while ((first = batches.peek()) != null && first.done()) {
      base = first.after();
      batches.remove();
      moved = true;
    }
    if (draining != null && drained()) {
      draining.tryComplete();
    }
    if (rows.coverable() >= settings.checkpointRows() || wantsBatch()) {
      lane.wake().run();
    }
    tick();
  }

  @Override
  public void usable() {
    advance();
  }

  @Override
  public void gone(FencepostException cause, @Nullable ParkedReason refusal) {
    if (stopped) {
      return;
    }
    rows.recall();
    ports.events().unconfirmed(lane.number(), 0);
    advance();
  }

  // Checkpoints

  /**
   * The checkpoint to append now, or null: after enough rows, after a while, or when forced. {@link
   * #appended} follows.
   */
  @Nullable Checkpoint due(boolean forced) {
    long age = System.nanoTime() - appendedAt;
    boolean due =
        forced
            || rows.coverable() >= settings.checkpointRows()
            || (rows.coverable() > 0 && age > QUIET_NANOS)
            || age > THIN_NANOS;
    if (stopped || appending || !moved || !due) {
      return null;
    }
    return checkpoint();
  }

  /**
   * @param accepted false when it was refused: the lane is not ours any more, or the database is
   *     not what it was, and all that is held is void
   */
  void appended(Checkpoint checkpoint, boolean accepted) {
    if (stopped) {
      return;
    }
    if (!accepted) {
      lane.lost().run();
      return;
    }
    appending = false;
    newest = checkpoint;
    appendedAt = System.nanoTime();
    rows.covered();
    advance();
  }

  private Checkpoint checkpoint() {
    appending = true;
    moved = false;
    rows.cover();
    return newest.next(fence(), cursor());
  }

  private Cursor cursor() {
    Batch first = batches.peek();
    return first == null ? base : first.cursor();
  }

  /** Puts refused rows, and those behind them, into safety together with the checkpoint. */
  private Future<Void> park() {
    if (stopped || appending || !parker.pending()) {
      return Future.succeededFuture();
    }
    Checkpoint checkpoint = checkpoint();
    Parker.Parking parking = parker.take();
    return ports
        .lanes()
        .park(settings.instance(), lane.life(), parking.rows(), checkpoint)
        .transform(
            result -> {
              if (stopped) {
                return Future.succeededFuture();
              }
              boolean done = result.succeeded() && result.result();
              if (done) {
                parking.held().forEach(rows::settle);
                appended(checkpoint, true);
              } else {
                lane.lost().run();
              }
              return Outcomes.of(result);
            });
  }

  // End

  /** Publishes what is held and reads no more. Completes when nothing is out any more. */
  Future<Void> drain() {
    if (draining == null) {
      draining = Promise.promise();
      advance();
    }
    return draining.future();
  }

  private boolean drained() {
    return !appending && (rows.isEmpty() || (rows.unconfirmed() == 0 && !channel.usable()));
  }

  /** Stops at once; what is out is void. */
  Future<Void> stop() {
    stopped = true;
    if (draining != null) {
      draining.tryComplete();
    }
    return channel.stop();
  }

  /** Its lease was prolonged: publishing that stopped for want of trust goes on. */
  void renewed(Duration oldest) {
    ports.events().lag(lane.number(), oldest, lagCause());
    tick();
  }

  private LagCause lagCause() {
    return channel.cause();
  }

  LaneStore.Report report() {
    return new LaneStore.Report(
        lane.number(),
        fence(),
        cursor().reached(),
        new LaneStore.Lag(lagCause(), behind, channel.detail()),
        parker.parked());
  }
}
