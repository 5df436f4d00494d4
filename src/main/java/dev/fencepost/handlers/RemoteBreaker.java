package dev.fencepost.handlers;

import dev.fencepost.config.DurationText;
import dev.fencepost.model.NotStarted;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import dev.fencepost.worker.BoundHandler;
import io.vertx.circuitbreaker.CircuitBreaker;
import io.vertx.circuitbreaker.CircuitBreakerOptions;
import io.vertx.circuitbreaker.CircuitBreakerState;
import io.vertx.circuitbreaker.OpenCircuitException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The circuit breaker of one remote. Opens when connecting has failed {@value #FAILURES} times
 * without a success in between; an answer, whatever its status, and a lost connection say that the
 * remote is there. While it is open nothing is started; then one start tries.
 */
final class RemoteBreaker implements BoundHandler.Admission {
  static final int FAILURES = 10;
  static final Duration OPEN_FOR = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(RemoteBreaker.class);
  private static final Duration WINDOW = Duration.ofSeconds(30);

  private final CircuitBreaker breaker;
  // Until when nothing is let through, by the monotonic clock; also while a trial is under way.
  private final AtomicLong closedUntil = new AtomicLong(System.nanoTime());

  RemoteBreaker(Vertx vertx, String remote) {
    this.breaker =
        CircuitBreaker.create(
                remote,
                vertx,
                new CircuitBreakerOptions()
                    .setMaxFailures(FAILURES)
                    .setFailuresRollingWindow(WINDOW.toMillis())
                    .setTimeout(-1) // every exchange has its own deadline
                    .setResetTimeout(OPEN_FOR.toMillis())
                    .setNotificationAddress(null))
            .failurePolicy(answer -> answer.failed() && isAway(answer.cause()))
            .openHandler(open -> opened(remote))
            .closeHandler(closed -> LOG.info("remote {} is back", remote));
  }

  <T> Future<T> execute(Supplier<Future<T>> call) {
    return breaker
        .execute(call)
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof OpenCircuitException
                        ? new NotStarted(
                            breaker.name() + " cannot be reached; nothing was sent",
                            OPEN_FOR,
                            failure)
                        : failure));
  }

  @Override
  public Optional<Duration> closedFor() {
    if (breaker.state() == CircuitBreakerState.CLOSED) {
      return Optional.empty();
    }
    long now = System.nanoTime();
    long until = closedUntil.get();
    long left = until - now;
    if (left > 0 || breaker.state() == CircuitBreakerState.OPEN) {
      return Optional.of(Duration.ofNanos(Math.max(left, 1_000_000)));
    }
    // Half open: the first who asks makes the trial, the others wait for how it ends.
    boolean trial = closedUntil.compareAndSet(until, now + OPEN_FOR.toNanos());
    return trial ? Optional.empty() : Optional.of(OPEN_FOR);
  }

  private void opened(String remote) {
    closedUntil.set(System.nanoTime() + OPEN_FOR.toNanos());
    LOG.warn(
        "remote {} cannot be reached: nothing is started for {}",
        remote,
        DurationText.format(OPEN_FOR));
  }

  private static boolean isAway(Throwable failure) {
    return failure instanceof RunFailure f
        && (f.event() == RunEvent.CONNECTION_REFUSED
            || f.event() == RunEvent.NAME_NOT_RESOLVED
            || f.event() == RunEvent.TLS_HANDSHAKE_FAILED);
  }
}
