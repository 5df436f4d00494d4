package dev.fencepost.relay;

import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a tick again and again: the next one is timed when the last has settled, so that two never
 * overlap. A tick that fails, in whatever way, is tried again after a second.
 */
final class Repeating {
  private static final Logger LOG = LoggerFactory.getLogger(Repeating.class);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
  private static final long NO_TIMER = -1;

  private final Vertx vertx;
  private final String what;
  private final Supplier<Future<Duration>> tick;
  private long timer = NO_TIMER;
  private boolean running;
  private boolean asked;
  private boolean stopped;
  private boolean failed;
  private boolean failing;
  private long begunAt;
  private long leastNanos;
  private Future<?> current = Future.succeededFuture();

  /**
   * @param tick says how long to wait until the next
   */
  Repeating(Vertx vertx, String what, Supplier<Future<Duration>> tick) {
    this.vertx = vertx;
    this.what = what;
    this.tick = tick;
  }

  /** Two ticks begin no sooner after each other than this. */
  Repeating atMostEvery(Duration least) {
    leastNanos = least.toNanos();
    return this;
  }

  void start() {
    run();
  }

  /** As soon as may be, and again when one is running. */
  void soon() {
    if (stopped) {
      return;
    }
    if (running) {
      asked = true;
    } else {
      arm(Duration.ZERO);
    }
  }

  private void arm(Duration pause) {
    if (timer != NO_TIMER) {
      vertx.cancelTimer(timer);
      timer = NO_TIMER;
    }
    long least = leastNanos - (System.nanoTime() - begunAt);
    long nanos = Math.max(pause.toNanos(), least);
    long millis = Math.round(nanos / 1e6); // as fine as timers are
    if (millis <= 0) {
      running = true;
      vertx.runOnContext(v -> go());
    } else {
      timer = vertx.setTimer(millis, id -> run());
    }
  }

  private void run() {
    timer = NO_TIMER;
    running = true;
    go();
  }

  private void go() {
    if (stopped) {
      running = false;
      return;
    }
    asked = false;
    begunAt = System.nanoTime();
    current =
        Attempt.of(tick)
            .recover(
                failure -> {
                  report(failure);
                  return Future.succeededFuture(AFTER_FAILURE);
                })
            .map(this::settled);
  }

  private void report(Throwable failure) {
    if (!failing && !stopped) {
      if (failure instanceof FencepostException) {
        LOG.warn("{}: {}", what, failure.getMessage());
      } else {
        LOG.error("{}", what, failure); // a fault of ours
      }
    }
    LOG.debug("{}", what, failure);
    failed = true;
  }

  private Duration settled(Duration pause) {
    running = false;
    failing = failed;
    failed = false;
    if (!stopped) {
      arm(asked && !failing ? Duration.ZERO : pause);
    }
    return pause;
  }

  /** Starts none any more; completes when the one that runs has settled. */
  Future<Void> stop() {
    stopped = true;
    if (timer != NO_TIMER) {
      vertx.cancelTimer(timer);
      timer = NO_TIMER;
    }
    return current.mapEmpty();
  }
}
