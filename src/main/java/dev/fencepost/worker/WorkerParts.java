package dev.fencepost.worker;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import java.time.Duration;
import java.util.List;

/**
 * What a worker is made of.
 *
 * @param owner unique per process start: a restarted node must not look like the owner of what it
 *     left behind
 * @param consumerTimeout what the broker allows a delivery to stay unacknowledged
 */
public record WorkerParts(
    String owner,
    Ports ports,
    FencepostConfig.Worker settings,
    List<QueueConfig> queues,
    Duration consumerTimeout) {

  /** What the other rooms give. */
  public record Ports(
      ActivityStore store, Deliveries deliveries, WorkerEvents events, HandlerSource handlers) {}
}
