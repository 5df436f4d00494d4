package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.Set;

/** Use case: where does everything stand, and why does what lags lag. */
public final class StatusQuery {
  private final StatusStore store;
  private final Set<String> consumers;

  /**
   * @param consumers the configured ones
   */
  public StatusQuery(StatusStore store, Set<String> consumers) {
    this.store = store;
    this.consumers = Set.copyOf(consumers);
  }

  public Future<Status> status() {
    return store
        .lanes()
        .compose(lanes -> store.queues(consumers).map(queues -> new Status(lanes, queues)));
  }
}
