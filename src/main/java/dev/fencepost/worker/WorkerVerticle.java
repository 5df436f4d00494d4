package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker of one process: one context, all its queues. Thin: everything is in {@link Worker}.
 * Deploy it once per process; undeploying it is the ordered shutdown. A start that fails, or is
 * given up, ends with the same: some queues may be consumed already.
 */
public final class WorkerVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerVerticle.class);

  private final WorkerParts parts;
  private final Promise<Void> givenUp = Promise.promise();
  private volatile @Nullable Worker worker;
  private @Nullable ExecutorService threads;
  private @Nullable ExecutorService watcher;

  public WorkerVerticle(WorkerParts parts) {
    this.parts = parts;
  }

  @Override
  public Future<?> start() {
    AtomicInteger count = new AtomicInteger();
    ExecutorService pool =
        Executors.newCachedThreadPool( // BlockingPool says how many
            task -> daemon(task, "fencepost-handler-" + count.incrementAndGet()));
    threads = pool;
    Timers timers = new VertxTimers(vertx, context);
    Worker made = new Worker(parts, timers, pool, watch(timers));
    worker = made;
    Promise<Void> started = Promise.promise();
    made.start().onComplete(done -> complete(started, done));
    givenUp.future().onFailure(e -> context.runOnContext(v -> started.tryFail(e)));
    return started.future().recover(this::stopAfter);
  }

  private static void complete(Promise<Void> started, AsyncResult<Void> done) {
    if (done.succeeded()) {
      started.tryComplete();
    } else {
      started.tryFail(done.cause());
    }
  }

  /** Vert.x stops no verticle that has not started. */
  private Future<Void> stopAfter(Throwable failure) {
    LOG.warn("the worker does not start; what it has begun is ended first: {}", failure.toString());
    return stop().transform(any -> Future.failedFuture(failure));
  }

  /**
   * Has a start that is not complete fail, and stop in order what runs; nothing once it has
   * started. From any thread.
   */
  public void giveUpStart() {
    givenUp.tryFail(new FencepostException(FailureKind.INTERNAL, "stopped while starting"));
  }

  /** A thread of its own: a loop that is blocked cannot say who blocks it. */
  private LoopWatch watch(Timers timers) {
    ScheduledThreadPoolExecutor own =
        new ScheduledThreadPoolExecutor(
            1,
            task -> daemon(task, "fencepost-loop-watch"),
            new ThreadPoolExecutor.DiscardPolicy()); // of a worker that has stopped
    watcher = own;
    long millis = LoopWatch.EVERY.toMillis();
    return new LoopWatch(timers, check -> own.schedule(check, millis, TimeUnit.MILLISECONDS));
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public Future<?> stop() {
    Worker running = worker;
    Future<Void> stopped = running == null ? Future.succeededFuture() : running.stop();
    return stopped.onComplete(done -> release());
  }

  private void release() {
    if (threads != null) {
      threads.shutdownNow();
    }
    if (watcher != null) {
      watcher.shutdownNow();
    }
  }

  /**
   * Applies what a reload may change: prefetch, concurrency, limits, retry, budgets. From any
   * thread; nothing in flight is touched.
   *
   * @param queues by name, as they should run now
   * @return completes when it holds
   */
  public Future<Void> reload(Map<String, QueueConfig> queues) {
    Promise<Void> applied = Promise.promise();
    context.runOnContext(
        v -> {
          Worker running = worker;
          if (running != null) {
            running.reloaded(queues);
          }
          applied.complete();
        });
    return applied.future();
  }

  /** Why the worker makes no progress, or null when it does; from any thread. */
  public @Nullable String notReady() {
    Worker running = worker;
    return running == null ? "the worker has not started" : running.notReady();
  }
}
