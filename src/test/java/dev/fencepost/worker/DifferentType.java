package dev.fencepost.worker;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one type of a {@link WorkerProcess}'s usual queue has otherwise than the others.
 *
 * @param slots its concurrency
 * @param lease how long it is claimed, and how often that is renewed
 * @param hard twice its soft limit
 * @param progress how long it may be silent, where that counts
 * @param retry the usual one when null
 */
record DifferentType(
    int slots,
    FencepostConfig.LeaseTimes lease,
    Duration hard,
    @Nullable Duration progress,
    ActivityConfig.@Nullable Retry retry) {

  static final FencepostConfig.LeaseTimes USUAL_LEASE =
      new FencepostConfig.LeaseTimes(WorkerProcess.TTL, WorkerProcess.TTL.dividedBy(4));

  /** The usual queue of this name, but for the one type. */
  QueueConfig in(String queue, String type) {
    QueueConfig usual = WorkerProcess.queue(queue);
    Map<String, ActivityConfig> types = new LinkedHashMap<>(usual.activities());
    types.computeIfPresent(type, (name, activity) -> of(activity));
    return new QueueConfig(queue, queue, usual.declare(), usual.intake(), null, null, types);
  }

  private ActivityConfig of(ActivityConfig usual) {
    return new ActivityConfig(
        usual.type(),
        usual.kind(),
        usual.handler(),
        slots,
        new ActivityConfig.Timing(lease, hard.dividedBy(2), hard, progress),
        retry == null ? usual.retry() : retry,
        null);
  }
}
