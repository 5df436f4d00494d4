package dev.fencepost.testing;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for conditions from the thread of a test; never use it on an event loop. */
public final class Await {

  private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 10;
  private static final long SLOWEST_POLL_MILLIS = 100;

  private Await() {}

  /** A check that throws while it does not hold yet. */
  public interface Check {
    void run() throws Exception;
  }

  /**
   * Returns once the condition is true; what it throws counts as false and is shown when time is
   * up.
   */
  public static void until(String what, Duration deadline, Callable<Boolean> condition) {
    value(what, deadline, () -> condition.call() ? Boolean.TRUE : null);
  }

  /** As {@link #until(String, Duration, Callable)} within 30 seconds. */
  public static void until(String what, Callable<Boolean> condition) {
    until(what, DEFAULT_DEADLINE, condition);
  }

  /**
   * Returns once the assertions in {@code check} hold; the last failure is shown when time is up.
   */
  public static void asserted(String what, Duration deadline, Check check) {
    until(
        what,
        deadline,
        () -> {
          check.run();
          return true;
        });
  }

  /** Returns the first value that is not null. */
  public static <T> T value(String what, Duration deadline, Callable<T> source) {
    long end = System.nanoTime() + deadline.toNanos();
    Throwable last = null;
    do {
      long asked = System.nanoTime();
      try {
        T value = source.call();
        if (value != null) {
          return value;
        }
        last = null;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted while waiting for " + what, e);
      } catch (Exception | AssertionError e) {
        last = e;
      }
      pause(what, System.nanoTime() - asked);
    } while (System.nanoTime() < end);
    throw new AssertionError("not within " + deadline + ": " + what, last);
  }

  /** Does something on a context, and returns what it gave. */
  public static <T> T on(Context context, Callable<T> work) {
    Promise<T> done = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            done.complete(work.call());
          } catch (Exception | AssertionError e) {
            done.fail(e);
          }
        });
    return result(done.future());
  }

  /** The result of a future within 30 seconds; its failure is thrown as it is. */
  public static <T> T result(Future<T> future) {
    return result(future, DEFAULT_DEADLINE);
  }

  /** The result of a future; its failure is thrown as it is. */
  public static <T> T result(Future<T> future, Duration deadline) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw Await.<RuntimeException>asIs(e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("the future did not complete within " + deadline, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a future", e);
    }
  }

  /** The failure of a future within 30 seconds; success is an error. */
  public static Throwable failure(Future<?> future) {
    return result(
        future.transform(
            done ->
                done.failed()
                    ? Future.succeededFuture(done.cause())
                    : Future.failedFuture(
                        new AssertionError("expected a failure, got " + done.result()))));
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> E asIs(Throwable failure) throws E {
    throw (E) failure;
  }

  /** What is dear to ask is asked less often: whoever waits must not be what is waited for. */
  private static void pause(String what, long tookNanos) {
    long fourTimes = TimeUnit.NANOSECONDS.toMillis(4 * tookNanos);
    try {
      Thread.sleep(Math.min(SLOWEST_POLL_MILLIS, Math.max(POLL_MILLIS, fourTimes)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + what, e);
    }
  }
}
