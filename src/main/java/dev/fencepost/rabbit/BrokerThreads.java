package dev.fencepost.rabbit;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads on which the AMQP client may block: never an event loop. All are daemons, made when
 * needed and gone when idle.
 */
final class BrokerThreads {

  private static final Logger LOG = LoggerFactory.getLogger(BrokerThreads.class);
  private static final long IDLE_SECONDS = 10;

  private final ThreadFactory factory = named("fencepost-amqp");
  private final ExecutorService blocking =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          named("fencepost-amqp-work"));
  private final ScheduledThreadPoolExecutor watch =
      new ScheduledThreadPoolExecutor(1, named("fencepost-amqp-watch"));

  BrokerThreads() {
    watch.setRemoveOnCancelPolicy(true);
  }

  /** For connecting, closing and dispatching: unbounded, tasks may run at the same time. */
  ExecutorService blocking() {
    return blocking;
  }

  /** Runs work that may block; nothing any more once these threads are closed. */
  void run(Runnable work) {
    try {
      blocking.execute(() -> survive(work));
    } catch (RejectedExecutionException closed) {
      // all connections have been closed as well
    }
  }

  /**
   * Runs {@code task} after a while, also while event loops and writers hang.
   *
   * @return cancels it
   */
  Runnable after(long millis, Runnable task) {
    try {
      ScheduledFuture<?> due = watch.schedule(() -> survive(task), millis, TimeUnit.MILLISECONDS);
      return () -> due.cancel(false);
    } catch (RejectedExecutionException closed) {
      return () -> {}; // all connections have been closed as well
    }
  }

  /** What a task throws would end its thread without a word. */
  private static void survive(Runnable task) {
    try {
      task.run();
    } catch (Throwable fault) {
      LOG.error("a task for the broker failed", fault);
    }
  }

  /** For the client's own reader and heartbeat threads. */
  ThreadFactory factory() {
    return factory;
  }

  /** One thread at a time, in order: the only writer of a channel. */
  static ExecutorService serial(String name) {
    ThreadPoolExecutor serial =
        new ThreadPoolExecutor(
            1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named(name));
    serial.allowCoreThreadTimeOut(true);
    return serial;
  }

  /** Runs {@code work} on {@code executor}; the future completes on {@code context}. */
  static <T> Future<T> call(Context context, Executor executor, Callable<T> work) {
    Promise<T> promise = Promise.promise();
    try {
      executor.execute(
          () -> {
            try {
              T result = work.call();
              onContext(context, () -> promise.complete(result));
            } catch (Throwable t) { // an Error too: the caller waits
              onContext(context, () -> promise.fail(t));
            }
          });
    } catch (RejectedExecutionException closed) {
      promise.fail(closed);
    } catch (Throwable t) { // no thread can be made
      onContext(context, () -> promise.fail(t));
    }
    return promise.future();
  }

  /** A context whose Vert.x has been closed takes nothing more; there is nobody left to tell. */
  static void onContext(Context context, Runnable task) {
    try {
      context.runOnContext(v -> task.run());
    } catch (RejectedExecutionException closed) {
      // the event loop has ended
    }
  }

  void close() {
    watch.shutdownNow();
    blocking.shutdown();
  }

  private static ThreadFactory named(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }
}
