package dev.fencepost.boot;

import dev.fencepost.worker.WorkerParts;
import dev.fencepost.worker.WorkerVerticle;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import java.util.Optional;

/** The worker with its ports. */
final class WorkerPart {

  private final WorkerVerticle verticle;
  private final WatchedDeliveries deliveries;

  /**
   * @param deliveries those that {@code parts} has
   */
  WorkerPart(WorkerParts parts, WatchedDeliveries deliveries) {
    this.verticle = new WorkerVerticle(parts);
    this.deliveries = deliveries;
  }

  Deployable verticle() {
    return verticle;
  }

  /** Fails when the broker refuses a queue before it was ever consumed. */
  Future<Void> refused() {
    return deliveries.refused();
  }

  Optional<String> standstill() {
    return Optional.ofNullable(verticle.notReady());
  }
}
