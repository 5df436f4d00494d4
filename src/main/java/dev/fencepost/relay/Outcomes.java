package dev.fencepost.relay;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What is left of a future once its result has been used. */
final class Outcomes {
  private Outcomes() {}

  static Future<Void> of(AsyncResult<?> result) {
    return result.succeeded() ? Future.succeededFuture() : Future.failedFuture(result.cause());
  }

  /** Ends with the future or after a while, whatever happens. */
  static Future<Void> within(Vertx vertx, Duration limit, Future<Void> future) {
    return Future.any(future, vertx.timer(limit.toMillis(), TimeUnit.MILLISECONDS)).mapEmpty();
  }
}
