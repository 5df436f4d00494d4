package dev.fencepost.boot;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;

/** How long the steps of start and stop may take. */
final class Deadlines {

  /** For the loops to settle and leave, besides what running handlers may take. */
  static final Duration SETTLING = Duration.ofSeconds(20);

  /** For connections to close. */
  static final Duration CLOSING = Duration.ofSeconds(5);

  /** For a question to a server at start or for health. */
  static final Duration ANSWER = Duration.ofSeconds(2);

  private Deadlines() {}

  static <T> Future<T> within(Vertx vertx, Duration deadline, Future<T> step) {
    Promise<T> promise = Promise.promise();
    long timer =
        vertx.setTimer(
            deadline.toMillis(),
            id ->
                promise.tryFail(
                    new FencepostException(
                        FailureKind.TIMEOUT, "not done within " + deadline.toSeconds() + " s")));
    step.onComplete(
        done -> {
          vertx.cancelTimer(timer);
          if (done.succeeded()) {
            promise.tryComplete(done.result());
          } else {
            promise.tryFail(done.cause());
          }
        });
    return promise.future();
  }
}
