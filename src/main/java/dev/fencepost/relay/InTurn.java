package dev.fencepost.relay;

import io.vertx.core.Future;
import java.util.function.Supplier;

/**
 * Changes of a lane's parked rows, one after the other. Two at once would not see each other: one
 * takes the last row of a key away while the other parks the next behind it, and that one would
 * wait for ever. What a change tells is taken in before the next begins.
 */
final class InTurn {
  private Future<?> last = Future.succeededFuture();

  <T> Future<T> run(Supplier<Future<T>> change) {
    Future<T> mine = last.transform(any -> change.get());
    last = mine;
    return mine;
  }
}
