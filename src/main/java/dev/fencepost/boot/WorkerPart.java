package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Readiness;
import dev.fencepost.worker.WorkerParts;
import dev.fencepost.worker.WorkerVerticle;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Consumer;

/** The worker with its ports. */
final class WorkerPart {

  /** No queue is to blame: the handlers have not returned, or the database is away. */
  private static final String STANDS = "no_progress";

  private final WorkerVerticle verticle;
  private final WatchedDeliveries deliveries;
  private final Consumer<FencepostConfig> reloaded;

  /**
   * @param deliveries those that {@code parts} has
   * @param reloaded told of each configuration that is applied
   */
  WorkerPart(WorkerParts parts, WatchedDeliveries deliveries, Consumer<FencepostConfig> reloaded) {
    this.verticle = new WorkerVerticle(parts);
    this.deliveries = deliveries;
    this.reloaded = reloaded;
  }

  Deployable verticle() {
    return verticle;
  }

  /** Has it not go on starting; nothing once it has started. */
  void giveUpStart() {
    verticle.giveUpStart();
  }

  /** Fails when the broker refuses a queue before it was ever consumed. */
  Future<Void> refused() {
    return deliveries.refused();
  }

  Future<Void> reload(FencepostConfig fresh) {
    reloaded.accept(fresh);
    return verticle.reload(fresh.queues());
  }

  Optional<Readiness.Reason> standstill() {
    return Optional.ofNullable(verticle.notReady())
        .map(why -> new Readiness.Reason("worker", deliveries.interruption().orElse(STANDS), why));
  }
}
