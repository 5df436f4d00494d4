package dev.fencepost.config;

import dev.fencepost.config.ActivityConfig.Retry;
import dev.fencepost.config.ActivityConfig.RetryBudget;
import dev.fencepost.config.FencepostConfig.Operation;
import dev.fencepost.config.FencepostConfig.Relay;
import dev.fencepost.config.FencepostConfig.Worker;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A configuration as key paths of the file with their values, to be compared. */
final class FlatConfig {
  // Ends a name that the user chose: it may hold dots itself.
  private static final String NAME_END = "\0";

  private final Map<String, Object> values = new LinkedHashMap<>();

  private FlatConfig() {}

  static Map<String, Object> of(FencepostConfig config) {
    FlatConfig flat = new FlatConfig();
    flat.put("database.uris", config.database().uris());
    flat.put("database.schema", config.database().schema());
    flat.put("database.pool-size", config.database().poolSize());
    flat.put("broker.uris", config.broker().uris());
    flat.put("broker.management-uri", config.broker().managementUri());
    flat.put("broker.consumer-timeout", config.broker().consumerTimeout());
    flat.relay(config.relay());
    flat.worker(config.worker());
    config.queues().forEach((name, queue) -> flat.queue("queues." + name + NAME_END, queue));
    flat.operation(config.operation());
    return flat.values;
  }

  /** Paths whose values differ, in order; a whole queue or type that came or went is one path. */
  static List<String> differences(Map<String, Object> before, Map<String, Object> after) {
    Set<String> paths = new LinkedHashSet<>(before.keySet());
    paths.addAll(after.keySet());
    List<String> different = new ArrayList<>();
    String whole = null;
    for (String path : paths) {
      boolean inside = whole != null && path.startsWith(whole);
      if (!inside && !Objects.equals(before.get(path), after.get(path))) {
        different.add(path.replace(NAME_END, ""));
        whole = path.endsWith(NAME_END) ? path : null;
      }
    }
    return different;
  }

  private void relay(Relay relay) {
    put("relay.enabled", relay.enabled());
    put("relay.lanes", relay.lanes());
    put("relay.ordering", relay.ordering());
    put("relay.page-size", relay.paging().size());
    put("relay.window", relay.paging().window());
    put("relay.window-bytes", relay.paging().windowBytes());
    put("relay.poll.min", relay.paging().pollMin());
    put("relay.poll.max", relay.paging().pollMax());
    put("relay.lease.ttl", relay.lease().ttl());
    put("relay.lease.renew-every", relay.lease().renewEvery());
    put("relay.retention", relay.retention());
    put("relay.max-message-size", relay.limits().maxMessageSize());
    put("relay.confirm-timeout", relay.limits().confirmTimeout());
    put("relay.parked.backoff.base", relay.limits().parkedBackoffBase());
    put("relay.parked.backoff.max", relay.limits().parkedBackoffMax());
    put("relay.parked.max-rows", relay.limits().parkedMaxRows());
  }

  private void worker(Worker worker) {
    put("worker.enabled", worker.enabled());
    put("worker.pool.size", worker.poolSize());
    put("worker.shutdown-deadline", worker.shutdownDeadline());
    put("worker.sweep-every", worker.sweepEvery());
    put("worker.unknown-type-after", worker.unknownTypeAfter());
    put("worker.retention.receipts", worker.receiptRetention());
  }

  private void queue(String path, QueueConfig queue) {
    put(path, "queue");
    put(path + ".queue", queue.queue());
    put(path + ".declare", queue.declare());
    put(path + ".prefetch", queue.intake().prefetch());
    put(path + ".concurrency", queue.intake().concurrency());
    put(path + ".ordering", queue.intake().ordering());
    put(path + ".dead-letter-exchange", queue.deadLetterExchange());
    put(path + ".default-type", queue.defaultType());
    queue
        .activities()
        .forEach((type, one) -> activity(path + ".activities." + type + NAME_END, one));
  }

  private void activity(String path, ActivityConfig activity) {
    put(path, "activity");
    put(path + ".kind", activity.kind());
    put(path + ".handler", activity.handler());
    put(path + ".concurrency", activity.concurrency());
    put(path + ".lease.ttl", activity.timing().lease().ttl());
    put(path + ".lease.renew-every", activity.timing().lease().renewEvery());
    put(path + ".limits.soft", activity.timing().soft());
    put(path + ".limits.hard", activity.timing().hard());
    put(path + ".progress-timeout", activity.timing().progress());
    Retry retry = activity.retry();
    put(path + ".retry.max-retries", retry.maxRetries());
    put(path + ".retry.base-delay", retry.baseDelay());
    put(path + ".retry.multiplier", retry.multiplier());
    put(path + ".retry.max-delay", retry.maxDelay());
    put(path + ".retry.jitter", retry.jitter());
    put(path + ".retry.max-attempts", retry.maxAttempts());
    RetryBudget budget = activity.retryBudget();
    put(path + ".retry-budget.ratio", budget == null ? null : budget.ratio());
    put(path + ".retry-budget.min-per-second", budget == null ? null : budget.minPerSecond());
  }

  private void operation(Operation operation) {
    put("admin.host", operation.admin().host());
    put("admin.port", operation.admin().port());
    put("admin.token", operation.admin().token());
    put("metrics.prometheus", operation.metrics().prometheus());
    put("metrics.jmx", operation.metrics().jmx());
    put("metrics.public", operation.metrics().open());
    put("tracing.enabled", operation.tracing());
    put("log.format", operation.log());
  }

  private void put(String path, @Nullable Object value) {
    values.put(path, Optional.ofNullable(value));
  }
}
