package dev.fencepost.boot;

import dev.fencepost.flow.Steps;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** From the thread of a command into Vert.x and back. Never used on an event loop. */
public final class Blocking {

  static final Duration CLOSING = Duration.ofSeconds(10);

  /** Between two looks. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  private Blocking() {}

  /**
   * Runs {@code work} in a Vert.x instance of its own and waits for its result.
   *
   * @throws FencepostException the work's failure; TIMEOUT when it did not end by the deadline
   */
  public static <T> T call(Duration deadline, Function<Vertx, Future<T>> work) {
    Vertx vertx = vertx();
    try {
      return await(work.apply(vertx), deadline);
    } finally {
      close(vertx);
    }
  }

  /** For a command, to be closed by {@link #close}. */
  static Vertx vertx() {
    return Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  }

  static void close(Vertx vertx) {
    await(vertx.close().otherwiseEmpty(), CLOSING);
  }

  /** Waits for a future; its failure is thrown. */
  public static <T> T await(Future<T> future, Duration deadline) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw thrown(e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw new FencepostException(
          FailureKind.TIMEOUT, "not done within " + deadline.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FencepostException(FailureKind.INTERNAL, "interrupted", e);
    }
  }

  /**
   * Looks until it is so, by a timer and on a worker thread.
   *
   * @return false when it was not so by the deadline; what looking throws is thrown
   */
  static boolean until(Vertx vertx, Duration deadline, Callable<Boolean> look) {
    long end = System.nanoTime() + deadline.toNanos();
    AtomicBoolean so = new AtomicBoolean();
    await(
        Steps.until(
            () ->
                vertx
                    .executeBlocking(look, false)
                    .compose(
                        seen -> {
                          so.set(seen);
                          return seen || System.nanoTime() >= end
                              ? Future.succeededFuture(false)
                              : vertx.timer(PAUSE.toMillis()).map(true);
                        })),
        deadline.plus(CLOSING));
    return so.get();
  }

  private static RuntimeException thrown(Throwable failure) {
    return failure instanceof RuntimeException known
        ? known
        : new FencepostException(FailureKind.INTERNAL, String.valueOf(failure), failure);
  }
}
