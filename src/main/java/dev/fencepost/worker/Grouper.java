package dev.fencepost.worker;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Group commit: one statement in flight, and the next one takes whatever piled up meanwhile. An
 * outage sends the same group again, for ever, with backoff (in halves where there was no answer in
 * time); a group that is refused is split until the item that is refused stands alone, so that its
 * neighbours are charged nothing. A group that meets a row which somebody has locked is split and
 * sent again beside the others: each try waits for the lock, and nobody else is to wait with it.
 */
final class Grouper<T, R> {
  private static final Logger LOG = LoggerFactory.getLogger(Grouper.class);
  private static final Duration CONFLICT_DELAY = Duration.ofMillis(20);

  /** Statements at a time for what is locked. */
  private static final int BESIDE = 2;

  /** The statement; one answer per item, in order. */
  interface Statement<T, R> {
    Future<List<R>> send(List<T> group);
  }

  /** Called once per item, on the worker's context. */
  interface Answers<T, R> {
    /**
     * @param sentNanos the monotonic clock before the statement was sent
     */
    void answered(T item, R answer, long sentNanos);

    /** The item itself is refused; nothing of it is stored. */
    void refused(T item, Throwable cause);
  }

  private final String name;
  private final int cap;
  private final Timers timers;
  private final Statement<T, R> statement;
  private final Answers<T, R> answers;
  private final Consumer<@Nullable Throwable> asked;
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  private final ArrayDeque<List<T>> parts = new ArrayDeque<>();
  private final ArrayDeque<List<T>> locked = new ArrayDeque<>();
  private final Backoff backoff = new Backoff();
  private boolean busy;
  private boolean away;
  private int beside;
  private int unsettled;

  /**
   * @param asked is told of each answer of the database: null, or how it failed
   */
  Grouper(
      String name,
      int cap,
      Timers timers,
      Statement<T, R> statement,
      Answers<T, R> answers,
      Consumer<@Nullable Throwable> asked) {
    this.name = name;
    this.cap = cap;
    this.timers = timers;
    this.statement = statement;
    this.answers = answers;
    this.asked = asked;
  }

  void add(T item) {
    unsettled++;
    waiting.add(item);
    wake();
  }

  /** Items that have not been answered. */
  int size() {
    return unsettled;
  }

  private void wake() {
    if (!busy) {
      busy = true;
      timers.execute(this::send); // after the batch that is being handed over
    }
  }

  private void send() {
    List<T> group = parts.isEmpty() ? take() : parts.poll();
    if (group.isEmpty()) {
      busy = false;
      return;
    }
    long sent = timers.nanos();
    guarded(group)
        .onComplete(
            answer -> {
              asked.accept(answer.cause());
              if (answer.succeeded()) {
                succeeded(group, answer.result(), sent);
              } else {
                failed(group, answer.cause());
              }
            });
  }

  private Future<List<R>> guarded(List<T> group) {
    try {
      return statement.send(group);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private List<T> take() {
    int n = Math.min(cap, waiting.size());
    List<T> group = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      group.add(waiting.poll());
    }
    return group;
  }

  private void succeeded(List<T> group, List<R> results, long sent) {
    backoff.reset();
    if (away) {
      away = false;
      LOG.info("{} goes on", name);
    }
    handOut(group, results, sent);
    send();
  }

  private void handOut(List<T> group, List<R> results, long sent) {
    unsettled -= group.size();
    for (int i = 0; i < group.size(); i++) {
      try {
        answers.answered(group.get(i), results.get(i), sent);
      } catch (RuntimeException e) {
        LOG.error("{}: an answer could not be handled", name, e); // its neighbours go on
      }
    }
  }

  private void failed(List<T> group, Throwable cause) {
    if (Failures.outage(cause)) {
      Duration delay = backoff.next();
      LOG.atLevel(away ? Level.DEBUG : Level.WARN) // said once, not at each try of an outage
          .log("{} of {} waits {} ms: {}", name, group.size(), delay.toMillis(), cause.toString());
      away = true;
      if (FencepostException.is(cause, FailureKind.TIMEOUT) && group.size() > 1) {
        halve(group); // it may be too much for one statement's deadline
      } else {
        parts.addFirst(group);
      }
      timers.after(delay, this::send);
      return;
    }
    if (Failures.conflict(cause)) {
      conflict(group);
    } else if (group.size() > 1) {
      halve(group);
    } else {
      unsettled--;
      LOG.error("{} refused", name, cause);
      answers.refused(group.get(0), cause);
    }
    send();
  }

  private void halve(List<T> group) {
    int half = group.size() / 2;
    parts.addFirst(new ArrayList<>(group.subList(half, group.size())));
    parts.addFirst(new ArrayList<>(group.subList(0, half)));
  }

  private void conflict(List<T> group) {
    if (group.size() > 1) {
      int half = group.size() / 2;
      locked.add(new ArrayList<>(group.subList(0, half)));
      locked.add(new ArrayList<>(group.subList(half, group.size())));
      sendLocked();
    } else {
      timers.after(
          CONFLICT_DELAY,
          () -> {
            locked.add(group);
            sendLocked();
          });
    }
  }

  private void sendLocked() {
    while (beside < BESIDE && !locked.isEmpty()) {
      beside++;
      List<T> group = locked.poll();
      long sent = timers.nanos();
      guarded(group)
          .onComplete(
              answer -> {
                beside--;
                if (answer.succeeded()) {
                  handOut(group, answer.result(), sent);
                } else if (Failures.conflict(answer.cause())) {
                  conflict(group);
                } else {
                  parts.add(group); // whatever it is, it is met once more, and dealt with, there
                  wake();
                }
                sendLocked();
              });
    }
  }
}
