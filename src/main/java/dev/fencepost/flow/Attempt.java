package dev.fencepost.flow;

import io.vertx.core.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Turns everything a call may do wrong into a failed future: a loop that goes on needs that. */
public final class Attempt {
  private Attempt() {}

  /** A thrown exception or error, and null instead of a future, are failures. */
  public static <T> Future<T> of(Supplier<? extends @Nullable Future<T>> call) {
    try {
      Future<T> future = call.get();
      return future == null ? Future.failedFuture(new NullPointerException("no future")) : future;
    } catch (Throwable t) { // an Error too: nobody else would hear of it
      return Future.failedFuture(t);
    }
  }
}
