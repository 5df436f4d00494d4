package dev.fencepost.worker;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Supplier;

/** The same request again, with backoff, until the database is back and has answered. */
final class Persistently {
  private Persistently() {}

  /** Fails only with what is neither an outage nor a conflict. */
  static <T> Future<T> ask(Timers timers, Supplier<Future<T>> request) {
    Promise<T> answer = Promise.promise();
    ask(timers, request, new Backoff(), answer);
    return answer.future();
  }

  private static <T> void ask(
      Timers timers, Supplier<Future<T>> request, Backoff backoff, Promise<T> answer) {
    Guarded.call(request)
        .onComplete(
            result -> {
              Throwable cause = result.cause();
              if (cause != null && (Failures.outage(cause) || Failures.conflict(cause))) {
                timers.after(backoff.next(), () -> ask(timers, request, backoff, answer));
              } else {
                answer.handle(result);
              }
            });
  }
}
