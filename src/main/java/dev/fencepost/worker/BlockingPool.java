package dev.fencepost.worker;

import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The threads for handlers that block. A task is begun only when a thread is free, so that its
 * limits count from its real start; who waits is known on the event loop.
 */
final class BlockingPool {

  /** One call on a thread of the pool. */
  interface Task<T> {
    /**
     * On the worker's context, right before the call.
     *
     * @param interrupt interrupts the call; harmless afterwards
     * @return false when it must not be made any more; then nothing else is called
     */
    boolean begin(Runnable interrupt);

    /** On a thread of the pool. */
    @Nullable T call() throws Exception;

    /** On the worker's context, once. */
    void ended(@Nullable T result, @Nullable Throwable error);
  }

  private final Timers timers;
  private final Executor threads;
  private final ArrayDeque<Task<?>> waiting = new ArrayDeque<>();
  private int free;

  BlockingPool(Timers timers, Executor threads, int size) {
    this.timers = timers;
    this.threads = threads;
    this.free = size;
  }

  void submit(Task<?> task) {
    waiting.add(task);
    next();
  }

  private void next() {
    while (free > 0 && !waiting.isEmpty()) {
      start(waiting.remove());
    }
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
    if (task.begin(() -> thread.cancel(true))) {
      free--;
      threads.execute(thread);
    }
  }

  /** Reports once, whether it ran or was cancelled just before. */
  private final class Call<T> implements Runnable {
    private final Task<T> task;
    private final AtomicBoolean taken = new AtomicBoolean();

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

    private void report(@Nullable T result, @Nullable Throwable error) {
      timers.execute(
          () -> {
            free++;
            task.ended(result, error);
            next();
          });
    }
  }
}
