package dev.fencepost.relay;

import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends a lane's rows to the broker and acts on its verdicts: a row is settled by its own confirm,
 * or parked for its own refusal.
 */
final class LaneSender implements LaneChannel.Owner, Suspects.Court {
  private final RelaySettings settings;
  private final RelayPorts ports;
  private final LaneLoop.Lane lane;
  private final InFlight rows;
  private final Runnable moved;
  private final LaneChannel channel;
  private final Refusals refusals;
  private final LanePause pause;
  private boolean stopped;

  /**
   * @param moved to be run when rows were settled, or may be sent again
   */
  LaneSender(
      Vertx vertx,
      RelaySettings settings,
      RelayPorts ports,
      LaneLoop.Lane lane,
      InFlight rows,
      Runnable moved) {
    this.settings = settings;
    this.ports = ports;
    this.lane = lane;
    this.rows = rows;
    this.moved = moved;
    this.channel =
        new LaneChannel(vertx, ports.publisher(), "lane-" + lane.number(), lane.trust(), this);
    this.refusals = new Refusals(vertx, settings, ports, lane, rows, this);
    this.pause = new LanePause(lane.number());
  }

  void start() {
    channel.start();
    refusals.start();
  }

  Refusals refusals() {
    return refusals;
  }

  /** Whether the broker takes messages now. */
  boolean ready() {
    return channel.usable();
  }

  /** Sends what may be sent. */
  void pump() {
    if (stopped || !channel.usable() || !lane.trusted() || !rows.hasReady()) {
      return;
    }
    int room = settings.paging().window() - rows.exposed();
    long now = System.nanoTime();
    List<OutboxRow> out = new ArrayList<>();
    Held held;
    while ((held = rows.poll(room > 0)) != null) {
      if (refusals.parker().diverts(held) || refusals.silence().holds(held)) {
        rows.leave(held);
        continue;
      }
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

  @Override
  public void settled(List<Publisher.Verdict> verdicts) {
    channel.proven();
    long oldest = System.nanoTime();
    long newest = Long.MIN_VALUE;
    int published = 0;
    for (Publisher.Verdict verdict : verdicts) {
      Held held = rows.answered(verdict.seq());
      if (held != null) {
        oldest = Math.min(oldest, held.sentAt);
        newest = Math.max(newest, held.sentAt);
        published += apply(held, verdict);
      }
    }
    if (newest != Long.MIN_VALUE) {
      refusals.silence().answered(newest);
    }
    ports.events().published(lane.number(), published);
    ports.events().confirmed(Duration.ofNanos(System.nanoTime() - oldest));
    ports.events().unconfirmed(lane.number(), rows.unconfirmed());
    moved.run();
  }

  private int apply(Held held, Publisher.Verdict verdict) {
    ParkedReason refusal = verdict.refusal();
    if (refusal == null) {
      refusals.parker().published(held);
      rows.settle(held);
      return 1;
    }
    ports.events().refused(refusal);
    refusals.parker().refused(held, refusal, verdict.detail());
    return 0;
  }

  @Override
  public void judged(Held held, Publisher.Verdict verdict) {
    if (stopped) {
      return;
    }
    ports.events().published(lane.number(), apply(held, verdict));
    moved.run();
  }

  @Override
  public void released() {
    moved.run();
  }

  @Override
  public void usable() {
    moved.run();
  }

  @Override
  public void halted() {
    observe();
  }

  @Override
  public void gone(FencepostException cause, @Nullable ParkedReason refusal) {
    List<Held> out = rows.recall(refusal != null);
    ports.events().unconfirmed(lane.number(), 0);
    if (refusal != null) {
      refusals.accuse(out, refusal);
    } else if (Silence.unanswered(cause)) {
      refusals.silence().suspect(out);
    }
    moved.run();
  }

  @Override
  public void guarded(Runnable step) {
    lane.guarded(step);
  }

  /** Its lease was prolonged: publishing that stopped for want of trust goes on. */
  void renewed() {
    refusals.renewed();
    observe();
  }

  /** Tells when the lane pauses and when it goes on. */
  void observe() {
    pause.observe(cause(), channel.detail());
  }

  LagCause cause() {
    return channel.cause() != LagCause.NONE ? channel.cause() : refusals.cause();
  }

  /** Of {@link #cause}, for reports. */
  @Nullable String detail() {
    return channel.cause() != LagCause.NONE ? channel.detail() : refusals.detail();
  }

  /** Whether held rows take the room that others need. */
  private boolean tight() {
    return rows.size() > settings.paging().window() / 2
        || rows.bytes() > settings.paging().windowBytes() / 2;
  }

  /** Makes room for others, when rows that are not confirmed take it. */
  void giveWay(boolean draining) {
    refusals.giveWay(draining || tight());
  }

  Future<Void> stop() {
    stopped = true;
    return Future.join(channel.stop(), refusals.stop()).mapEmpty();
  }
}
