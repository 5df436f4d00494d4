package dev.fencepost.worker;

import io.vertx.core.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Turns everything a call may do wrong into a failed future. */
final class Guarded {
  private Guarded() {}

  /** A thrown exception or error, and null instead of a future, are failures. */
  static <T> Future<T> call(Supplier<@Nullable Future<T>> supplier) {
    try {
      Future<T> future = supplier.get();
      return future == null ? Future.failedFuture(new Outcomes.NullReceipt()) : future;
    } catch (Throwable t) { // a handler's Error must not stop the loop
      return Future.failedFuture(t);
    }
  }
}
