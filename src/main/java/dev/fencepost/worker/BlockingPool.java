package dev.fencepost.worker;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The threads for handlers that block. A task is begun only when a thread is free, so that its
 * limits count from its real start; who waits is known on the event loop. Of the types that wait
 * the one goes first that has the fewest threads. A call that is given up and does not return has
 * its thread replaced: what bounds those is that its type does not get its slot back, either.
 */
final class BlockingPool {

  /** One call on a thread of the pool. */
  interface Task<T> {
    /** Whose it is: types share the threads evenly. */
    TypeLane lane();

    /**
     * On the worker's context, right before the call.
     *
     * @param giveUp interrupts the call and counts its thread as lost until it returns; harmless
     *     afterwards
     * @return false when it must not be made any more; then nothing else is called
     */
    boolean begin(Runnable giveUp);

    /** On a thread of the pool. */
    @Nullable T call() throws Exception;

    /** On the worker's context, once. */
    void ended(@Nullable T result, @Nullable Throwable error);
  }

  private final Timers timers;
  private final Executor threads;
  private final Map<TypeLane, ArrayDeque<Task<?>>> waiting = new LinkedHashMap<>();
  private final Map<TypeLane, Integer> running = new HashMap<>();
  private int free;

  BlockingPool(Timers timers, Executor threads, int size) {
    this.timers = timers;
    this.threads = threads;
    this.free = size;
  }

  void submit(Task<?> task) {
    waiting.computeIfAbsent(task.lane(), lane -> new ArrayDeque<>()).add(task);
    next();
  }

  private void next() {
    while (free > 0 && !waiting.isEmpty()) {
      Map.Entry<TypeLane, ArrayDeque<Task<?>>> next =
          Collections.min(
              waiting.entrySet(),
              Comparator.comparingInt(each -> running.getOrDefault(each.getKey(), 0)));
      Task<?> task = next.getValue().remove();
      if (next.getValue().isEmpty()) {
        waiting.remove(next.getKey());
      }
      start(task);
    }
  }

  private void take(TypeLane lane) {
    free--;
    running.merge(lane, 1, Integer::sum);
  }

  private void give(TypeLane lane) {
    free++;
    running.computeIfPresent(lane, (each, n) -> n == 1 ? null : n - 1);
  }

  private <T> void start(Task<T> task) {
    Call<T> call = new Call<>(task);
    FutureTask<Void> thread =
        new FutureTask<>(call, null) {
          @Override
          protected void done() {
            call.neverRan();
          }
        };
    if (task.begin(() -> call.giveUp(thread))) {
      take(task.lane());
      threads.execute(thread);
    }
  }

  /** Reports once, whether it ran or was cancelled just before. */
  private final class Call<T> implements Runnable {
    private final Task<T> task;
    private final AtomicBoolean taken = new AtomicBoolean();

    /** Its thread counts no more; confined to the context, as {@link #ended}. */
    private boolean lost;

    private boolean ended;

    Call(Task<T> task) {
      this.task = task;
    }

    @Override
    public void run() {
      if (!taken.compareAndSet(false, true)) {
        return;
      }
      T result = null;
      Throwable error = null;
      try {
        result = task.call();
      } catch (Throwable t) { // an Error of a handler must not look like a lost run
        error = t;
      }
      report(result, error);
    }

    void neverRan() {
      if (taken.compareAndSet(false, true)) {
        report(null, new CancellationException("interrupted before its thread took it"));
      }
    }

    /** It may never return: what waits gets another thread. */
    void giveUp(FutureTask<Void> thread) {
      thread.cancel(true);
      if (!lost && !ended) {
        lost = true;
        give(task.lane());
        timers.execute(BlockingPool.this::next);
      }
    }

    private void report(@Nullable T result, @Nullable Throwable error) {
      timers.execute(
          () -> {
            ended = true;
            if (!lost) {
              give(task.lane());
            }
            try {
              task.ended(result, error);
            } finally {
              next();
            }
          });
    }
  }
}
