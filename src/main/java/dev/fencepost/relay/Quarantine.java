package dev.fencepost.relay;

import dev.fencepost.decide.RefusalPolicy;
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
 * them nevertheless, a tenth of them is tried at once, and so on. Opened when needed. Another one
 * like it is for rows that may never be confirmed.
 */
final class Quarantine implements LaneChannel.Owner {
  /** What a lane has several of. */
  enum Kind {
    /** For rows that may close the channel. */
    SUSPECTS("quarantine-", Duration.ofSeconds(30)),
    /** For rows that may not be confirmed: nothing waits there for what was sent before. */
    SILENT("quarantine-silent-", Duration.ofSeconds(1));

    private final String name;
    private final Duration idle;

    Kind(String name, Duration idle) {
      this.name = name;
      this.idle = idle;
    }
  }

  private static final int TOGETHER = 100;
  private static final int FEWER = 10;

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

  /** It is asked before long whether the channel is still needed. */
  private boolean closing;

  private final Kind kind;
  private final long patience;

  /**
   * @param together with how many others it may go, itself included
   */
  private record Trial(
      OutboxRow row, int together, Promise<Publisher.Verdict> verdict, long sentAt) {
    /** Fewer share the next closure, until it convicts one. */
    Trial withFewer() {
      return new Trial(row, Math.max(1, together / FEWER), verdict, 0);
    }

    Trial sent(long now) {
      return new Trial(row, together, verdict, now);
    }
  }

  /**
   * @param patience how long the broker may take for a confirm
   */
  Quarantine(Vertx vertx, Publisher publisher, LaneLoop.Lane lane, Kind kind, Duration patience) {
    this.vertx = vertx;
    this.publisher = publisher;
    this.lane = lane;
    this.kind = kind;
    this.patience = patience.toNanos();
  }

  /**
   * Publishes a row and completes with the broker's verdict, however often the broker goes away
   * before it gives one. Fails with TIMEOUT when no confirm came in time, so that nobody knows
   * whether it arrived; and when the lane ends first.
   *
   * @param alone whether it may close the channel
   */
  Future<Publisher.Verdict> attempt(OutboxRow row, boolean alone) {
    if (stopped) {
      return Future.failedFuture(ended());
    }
    Trial trial = new Trial(row, alone ? 1 : TOGETHER, Promise.promise(), 0);
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
          new LaneChannel(vertx, publisher, kind.name + lane.number(), lane.trust(), this);
      channel = opening;
      opening.start();
    }
    if (!channel.usable() || !lane.trusted() || mustWait()) {
      return;
    }
    used = System.nanoTime();
    List<OutboxRow> rows = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    out.values().forEach(trial -> ids.add(trial.row().eventId()));
    Trial next;
    int together = TOGETHER;
    while ((next = waiting.peek()) != null
        && out.size() < (together = Math.min(together, next.together()))
        && ids.add(next.row().eventId())) {
      waiting.remove();
      out.put(next.row().seq(), next.sent(used));
      rows.add(next.row());
    }
    if (!rows.isEmpty()) {
      channel.publish(rows);
    }
  }

  private boolean mustWait() {
    return !out.isEmpty()
        && (kind == Kind.SUSPECTS
            || out.values().stream().anyMatch(trial -> trial.together() < TOGETHER));
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
    whenIdle();
  }

  private void whenIdle() {
    if (channel != null && !closing && waiting.isEmpty() && out.isEmpty()) {
      closing = true;
      vertx.setTimer(kind.idle.toMillis() + 1, id -> guarded(this::closeIdle));
    }
  }

  private void closeIdle() {
    closing = false;
    boolean idle = System.nanoTime() - used >= kind.idle.toNanos();
    if (channel != null && waiting.isEmpty() && out.isEmpty() && idle) {
      channel.stop();
      channel = null;
    } else {
      whenIdle();
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
    boolean alone = back.size() == 1; // one that is withdrawn may have been guilty
    out.clear();
    back.removeIf(this::forgotten);
    if (refusal != null && alone && !back.isEmpty()) {
      convict(back.get(0), refusal, cause.getMessage());
    } else {
      boolean silent = refusal == null && Silence.unanswered(cause);
      List<Trial> unanswered = silent ? back.stream().filter(this::overdue).toList() : List.of();
      back.removeAll(unanswered);
      for (int i = back.size() - 1; i >= 0; i--) {
        waiting.addFirst(refusal == null ? back.get(i) : back.get(i).withFewer());
      }
      unanswered.forEach(trial -> trial.verdict().fail(cause));
    }
    pump();
    whenIdle();
  }

  private static void convict(Trial guilty, ParkedReason closedFor, @Nullable String detail) {
    OutboxRow row = guilty.row();
    ParkedReason refusal = RefusalPolicy.convicted(closedFor, Suspects.checked(row));
    guilty.verdict().complete(new Publisher.Verdict(row.seq(), refusal, detail));
  }

  private boolean overdue(Trial trial) {
    return System.nanoTime() - trial.sentAt() >= patience;
  }

  /**
   * Sends a row no more: an attempt that waits fails. One that is on its way is heard of still, if
   * the broker answers.
   */
  void withdraw(long seq) {
    if (out.containsKey(seq)) {
      withdrawn.add(seq);
    }
    List<Trial> its = waiting.stream().filter(trial -> trial.row().seq() == seq).toList();
    waiting.removeAll(its);
    its.forEach(trial -> trial.verdict().fail(changed(seq)));
    whenIdle();
  }

  private boolean forgotten(Trial trial) {
    boolean its = withdrawn.remove(trial.row().seq());
    if (its) {
      trial.verdict().fail(changed(trial.row().seq()));
    }
    return its;
  }

  private static FencepostException changed(long seq) {
    return new FencepostException(FailureKind.STALE, "row " + seq + " is not to be sent any more");
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
