package dev.fencepost.config;

import dev.fencepost.config.ActivityConfig.Timing;
import dev.fencepost.config.FencepostConfig.Relay;
import dev.fencepost.config.FencepostConfig.Relay.Paging;
import dev.fencepost.config.QueueConfig.Intake;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a reload changes. Prefetch, concurrency, limits, retry, budgets and poll pace change while
 * everything runs; all else keeps its running value until a restart.
 *
 * @param applied paths whose new value is in {@code config}
 * @param needRestart paths that differ in the file but keep their running value
 * @param config what should run now
 */
public record ConfigDiff(List<String> applied, List<String> needRestart, FencepostConfig config) {

  /** Compares the running configuration with the one of a file that was read without a fault. */
  public static ConfigDiff between(FencepostConfig running, FencepostConfig fresh) {
    FencepostConfig merged = merge(running, fresh);
    Map<String, Object> before = FlatConfig.of(running);
    Map<String, Object> now = FlatConfig.of(merged);
    return new ConfigDiff(
        FlatConfig.differences(before, now),
        FlatConfig.differences(now, FlatConfig.of(fresh)),
        merged);
  }

  private static FencepostConfig merge(FencepostConfig running, FencepostConfig fresh) {
    Map<String, QueueConfig> queues = new LinkedHashMap<>();
    running
        .queues()
        .forEach(
            (name, queue) -> {
              QueueConfig other = fresh.queues().get(name);
              Duration timeout = running.broker().consumerTimeout();
              queues.put(name, other == null ? queue : merge(queue, other, timeout));
            });
    return new FencepostConfig(
        running.database(),
        running.broker(),
        merge(running.relay(), fresh.relay().paging()),
        running.worker(),
        Collections.unmodifiableMap(queues),
        running.operation());
  }

  private static Relay merge(Relay running, Paging fresh) {
    Paging old = running.paging();
    return new Relay(
        running.enabled(),
        running.lanes(),
        running.ordering(),
        new Paging(old.size(), old.window(), old.windowBytes(), fresh.pollMin(), fresh.pollMax()),
        running.lease(),
        running.retention(),
        running.limits());
  }

  private static QueueConfig merge(QueueConfig running, QueueConfig fresh, Duration timeout) {
    Map<String, ActivityConfig> activities = new LinkedHashMap<>();
    running
        .activities()
        .forEach(
            (type, activity) -> {
              ActivityConfig other = fresh.activities().get(type);
              activities.put(type, other == null ? activity : merge(activity, other, timeout));
            });
    return new QueueConfig(
        running.name(),
        running.queue(),
        running.declare(),
        new Intake(
            fresh.intake().prefetch(), fresh.intake().concurrency(), running.intake().ordering()),
        running.deadLetterExchange(),
        running.defaultType(),
        Collections.unmodifiableMap(activities));
  }

  private static ActivityConfig merge(
      ActivityConfig running, ActivityConfig fresh, Duration timeout) {
    // A longer limit that came with a longer broker timeout waits for the restart with it.
    Timing limits = fresh.timing();
    Duration settled = limits.hard().plus(ActivitySection.SETTLE_MARGIN);
    if (settled.compareTo(timeout) > 0) {
      limits = running.timing();
    }
    return new ActivityConfig(
        running.type(),
        running.kind(),
        running.handler(),
        fresh.concurrency(),
        new Timing(running.timing().lease(), limits.soft(), limits.hard(), limits.progress()),
        fresh.retry(),
        fresh.retryBudget());
  }
}
