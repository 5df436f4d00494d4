package dev.fencepost.flow;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Supplier;

/**
 * Takes one step after the other. A chain of {@code compose} calls would grow with the number of
 * steps, and its completion would run out of stack after some hundred of them.
 */
public final class Steps {
  private Steps() {}

  /**
   * @param step takes a step and says whether there is another
   * @return fails as soon as a step does
   */
  public static Future<Void> until(Supplier<Future<Boolean>> step) {
    Promise<Void> end = Promise.promise();
    steps(step, end);
    return end.future();
  }

  private static void steps(Supplier<Future<Boolean>> step, Promise<Void> end) {
    Future<Boolean> taken;
    do {
      taken = Future.<Void>succeededFuture().compose(v -> step.get());
      if (!taken.isComplete()) {
        taken.onComplete(
            result -> {
              if (goesOn(result, end)) {
                steps(step, end);
              }
            });
        return;
      }
    } while (goesOn(taken, end));
  }

  private static boolean goesOn(AsyncResult<Boolean> taken, Promise<Void> end) {
    if (taken.succeeded() && taken.result()) {
      return true;
    }
    if (taken.succeeded()) {
      end.complete();
    } else {
      end.fail(taken.cause());
    }
    return false;
  }
}
