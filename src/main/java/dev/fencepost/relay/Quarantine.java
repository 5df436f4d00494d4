package dev.fencepost.relay;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A second channel of a lane, for rows that may make the broker close it: each goes alone, so that
 * a closure convicts it. Rows that are not known to do so go together; when the channel closes on
 * them nevertheless, they are tried again one by one. Opened when needed.
 */
final class Quarantine implements LaneChannel.Owner {
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final int TOGETHER = 100;

  private final Vertx vertx;
  private final Publisher publisher;
  private final LaneLoop.Lane lane;
  private final Deque<Trial> waiting = new ArrayDeque<>();
  private final Map<Long, Trial> out = new LinkedHashMap<>();
  private @Nullable LaneChannel channel;

  /** Rows on their way whose verdict may come, but which are not to be sent again. */
  private final Set<Long> withdrawn = new HashSet<>();

  private boolean stopped;
  private long used;

  private record Trial(OutboxRow row, boolean alone, Promise<Publisher.Verdict> verdict) {
    Trial byItself() {
      return new Trial(row, true, verdict);
    }
  }

  Quarantine(Vertx vertx, Publisher publisher, LaneLoop.Lane lane) {
    this.vertx = vertx;
    this.publisher = publisher;
    this.lane = lane;
  }

  /**
   * Publishes a row and completes with the broker's verdict, however often the broker goes away
   * before it gives one. Fails when the lane ends first.
   *
   * @param alone whether it may close the channel
   */
  Future<Publisher.Verdict> attempt(OutboxRow row, boolean alone) {
    if (stopped) {
      return Future.failedFuture(ended());
    }
    Trial trial = new Trial(row, alone, Promise.promise());
    waiting.add(trial);
    pump();
    return trial.verdict().future();
  }

  /** Sends what may be sent; to be called when the lease was renewed. */
  void pump() {
    if (stopped || waiting.isEmpty()) {
      return;
    }
    if (channel == null) {
      LaneChannel opening =
          new LaneChannel(vertx, publisher, "quarantine-" + lane.number(), lane.trust(), this);
      channel = opening;
      opening.start();
    }
    if (!channel.usable() || !lane.trusted() || !out.isEmpty()) {
      return;
    }
    used = System.nanoTime();
    List<OutboxRow> rows = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    Trial next;
    while ((next = waiting.peek()) != null
        && (rows.isEmpty() || !next.alone())
        && rows.size() < TOGETHER
        && ids.add(next.row().eventId())) {
      waiting.remove();
      out.put(next.row().seq(), next);
      rows.add(next.row());
      if (next.alone()) {
        break;
      }
    }
    channel.publish(rows);
  }

  @Override
  public void settled(List<Publisher.Verdict> verdicts) {
    for (Publisher.Verdict verdict : verdicts) {
      Trial trial = out.remove(verdict.seq());
      withdrawn.remove(verdict.seq());
      if (trial != null) {
        trial.verdict().complete(verdict);
      }
    }
    pump();
    if (waiting.isEmpty() && out.isEmpty()) {
      vertx.setTimer(IDLE.toMillis(), id -> guarded(this::closeIdle));
    }
  }

  private void closeIdle() {
    boolean idle = System.nanoTime() - used >= IDLE.toNanos();
    if (channel != null && waiting.isEmpty() && out.isEmpty() && idle) {
      channel.stop();
      channel = null;
    }
  }

  @Override
  public void usable() {
    pump();
  }

  @Override
  public void guarded(Runnable step) {
    lane.guarded(step);
  }

  /** What stops it stops the lane's own channel too, which tells of it. */
  @Override
  public void halted() {}

  @Override
  public void gone(FencepostException cause, @Nullable ParkedReason refusal) {
    List<Trial> back = new ArrayList<>(out.values());
    out.clear();
    back.removeIf(this::forgotten);
    if (refusal != null && back.size() == 1) {
      Trial guilty = back.get(0);
      guilty
          .verdict()
          .complete(new Publisher.Verdict(guilty.row().seq(), refusal, cause.getMessage()));
    } else {
      for (int i = back.size() - 1; i >= 0; i--) {
        waiting.addFirst(refusal == null ? back.get(i) : back.get(i).byItself());
      }
    }
    pump();
  }

  /**
   * Sends a row no more: an attempt that waits fails. One that is on its way is heard of still, if
   * the broker answers.
   */
  void withdraw(long seq) {
    if (out.containsKey(seq)) {
      withdrawn.add(seq);
    }
    waiting.removeIf(
        trial -> {
          boolean its = trial.row().seq() == seq;
          if (its) {
            trial.verdict().fail(changed(seq));
          }
          return its;
        });
  }

  private boolean forgotten(Trial trial) {
    boolean its = withdrawn.remove(trial.row().seq());
    if (its) {
      trial.verdict().fail(changed(trial.row().seq()));
    }
    return its;
  }

  private static FencepostException changed(long seq) {
    return new FencepostException(
        FailureKind.STALE, "row " + seq + " was changed by an operator meanwhile");
  }

  Future<Void> stop() {
    stopped = true;
    List<Trial> open = new ArrayList<>(out.values());
    open.addAll(waiting);
    out.clear();
    waiting.clear();
    open.forEach(trial -> trial.verdict().fail(ended()));
    return channel == null ? Future.succeededFuture() : channel.stop();
  }

  private FencepostException ended() {
    return new FencepostException(
        FailureKind.LEASE_LOST, "lane " + lane.number() + " ended before the broker answered");
  }
}
