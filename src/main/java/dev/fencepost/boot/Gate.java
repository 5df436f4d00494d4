package dev.fencepost.boot;

import dev.fencepost.flow.Attempt;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A check at start that is repeated while a server is out of reach, and ends the start where a
 * person has to change something.
 */
final class Gate {

  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final Vertx vertx;
  private final Standing standing;
  private volatile boolean closed;
  private volatile @Nullable Promise<Void> paused;

  Gate(Vertx vertx, Standing standing) {
    this.vertx = vertx;
    this.standing = standing;
  }

  /**
   * @param part whose readiness hangs on the check
   * @return completes when the check has passed; fails with what only a person can change, or when
   *     the gate was closed
   */
  Future<Void> pass(String part, Supplier<Future<Void>> check) {
    Promise<Void> passed = Promise.promise();
    attempt(part, check, FIRST_PAUSE, passed);
    return passed.future();
  }

  /** No check is begun any more, and none is waited for that was to be repeated. */
  void close() {
    closed = true;
    Promise<Void> pausing = paused;
    if (pausing != null) {
      pausing.tryFail(stopped());
    }
  }

  private void attempt(
      String part, Supplier<Future<Void>> check, Duration pause, Promise<Void> passed) {
    paused = null;
    if (closed) {
      passed.tryFail(stopped());
      return;
    }
    Attempt.of(check)
        .onSuccess(
            v -> {
              standing.clear(part);
              passed.complete();
            })
        .onFailure(
            failure -> {
              if (closed || !mayPass(failure)) {
                passed.fail(failure);
                return;
              }
              standing.blocked(Standing.of(part, failure));
              Duration next = pause.multipliedBy(2);
              Duration longer = next.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : next;
              paused = passed;
              vertx.setTimer(pause.toMillis(), id -> attempt(part, check, longer, passed));
              if (closed) {
                passed.tryFail(stopped());
              }
            });
  }

  /** What a start fails with that was stopped. */
  static FencepostException stopped() {
    return new FencepostException(FailureKind.INTERNAL, "stopped while starting");
  }

  /** Whether the same check may succeed later without anybody changing anything here. */
  static boolean mayPass(Throwable failure) {
    return failure instanceof FencepostException known && mayPass(known.kind());
  }

  private static boolean mayPass(FailureKind kind) {
    return switch (kind) {
      case DATABASE_UNREACHABLE,
          DATABASE_READ_ONLY,
          DATABASE_CONFLICT,
          BROKER_UNREACHABLE,
          BROKER_BLOCKED,
          CHANNEL_CLOSED,
          TIMEOUT ->
          true;
      default -> false;
    };
  }
}
