package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.ActivityConfig.Handler;
import dev.fencepost.config.ActivityConfig.Retry;
import dev.fencepost.config.ActivityConfig.RetryBudget;
import dev.fencepost.config.ActivityConfig.Timing;
import dev.fencepost.config.FencepostConfig.LeaseTimes;
import dev.fencepost.config.Values.Range;
import dev.fencepost.model.ActivityKind;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads one activity type of a queue. */
final class ActivitySection {
  /**
   * What a message may need after its hard limit until it is acknowledged: outcome written, a
   * database failover ridden out. {@code hard} plus this must fit into the broker's timeout.
   */
  static final Duration SETTLE_MARGIN = Duration.ofSeconds(30);

  private static final int MOST_RETRIES = 1_000_000;
  private static final LeaseTimes LEASE =
      new LeaseTimes(Duration.ofSeconds(30), Duration.ofSeconds(10));
  private static final Range<Duration> LIMIT = between("1ms", "30d");
  private static final Range<Duration> DELAY = between("1ms", "365d");

  private final Section section;
  private final Values values;

  private ActivitySection(Section section) {
    this.section = section;
    this.values = new Values(section);
  }

  /**
   * @param queue what its queue sets: prefetch bounds the concurrency, concurrency is its default
   * @return null, and a fault, when a required part is missing
   */
  static @Nullable ActivityConfig read(
      String type, Section section, QueueConfig.Intake queue, Duration consumerTimeout) {
    return new ActivitySection(section).read(type, queue, consumerTimeout);
  }

  private @Nullable ActivityConfig read(
      String type, QueueConfig.Intake queue, Duration consumerTimeout) {
    ActivityKind kind = kind();
    Handler handler = HandlerSection.read(section, kind);
    int concurrency = values.whole("concurrency", queue.concurrency(), between(1, 65_535));
    if (section.sound("concurrency") && concurrency > queue.prefetch()) {
      section.fault(
          "concurrency",
          concurrency + " is above prefetch " + queue.prefetch(),
          "at most " + queue.prefetch());
    }
    Timing timing = timing(consumerTimeout);
    Retry retry = retry();
    RetryBudget budget = section.has("retry-budget") ? budget() : null;
    section.child("retry-budget");
    section.close();
    return kind == null || handler == null
        ? null
        : new ActivityConfig(type, kind, handler, concurrency, timing, retry, budget);
  }

  private @Nullable ActivityKind kind() {
    String text = section.text("kind");
    for (ActivityKind kind : ActivityKind.values()) {
      if (kind.wire().equals(text)) {
        return kind;
      }
    }
    if (section.sound("kind")) {
      String problem = text == null ? "is missing" : Redaction.value(text) + " is no kind";
      String all =
          Arrays.stream(ActivityKind.values())
              .map(ActivityKind::wire)
              .collect(Collectors.joining(", "));
      section.fault("kind", problem, all);
    }
    return null;
  }

  private Timing timing(Duration consumerTimeout) {
    LeaseTimes lease = LeaseSection.read(section.child("lease"), LEASE);
    Section limits = section.child("limits");
    Values times = new Values(limits);
    Duration hard = times.duration("hard", Duration.ofSeconds(20), LIMIT);
    // Left out beside a short hard limit, it keeps the same distance in proportion.
    Duration preset = min(Duration.ofSeconds(15), hard.multipliedBy(3).dividedBy(4));
    Duration soft = times.duration("soft", preset, LIMIT);
    if (limits.sound("soft", "hard") && hard.compareTo(soft) <= 0) {
      limits.fault(
          "hard", shown(hard) + " is not above soft " + shown(soft), "above " + shown(soft));
    }
    Duration most = consumerTimeout.minus(SETTLE_MARGIN);
    if (limits.sound("hard") && hard.compareTo(most) > 0) {
      limits.fault(
          "hard",
          shown(hard)
              + " plus "
              + shown(SETTLE_MARGIN)
              + " to settle is above"
              + " broker.consumer-timeout "
              + shown(consumerTimeout),
          most.isNegative() || most.isZero()
              ? "a longer broker.consumer-timeout"
              : "at most " + shown(most));
    }
    Duration progress = values.durationOrNull("progress-timeout", LIMIT);
    if (progress != null
        && limits.sound("hard")
        && section.sound("progress-timeout")
        && progress.compareTo(hard) >= 0) {
      section.fault(
          "progress-timeout",
          shown(progress) + " is not below limits.hard " + shown(hard),
          "below " + shown(hard));
    }
    limits.close();
    return new Timing(lease, soft, hard, progress);
  }

  private Retry retry() {
    Section retry = section.child("retry");
    Values policy = new Values(retry);
    int maxRetries = policy.whole("max-retries", 3, between(0, MOST_RETRIES));
    Duration base = policy.duration("base-delay", Duration.ofSeconds(5), DELAY);
    double multiplier = policy.number("multiplier", 2, between(1.0, 1_000.0));
    Duration most = policy.duration("max-delay", max(base, Duration.ofHours(1)), DELAY);
    if (retry.sound("base-delay", "max-delay") && most.compareTo(base) < 0) {
      retry.fault(
          "max-delay",
          shown(most) + " is below base-delay " + shown(base),
          "at least " + shown(base));
    }
    double jitter = policy.number("jitter", 0, between(0.0, 1.0));
    int attempts = policy.whole("max-attempts", maxRetries + 1, between(1, MOST_RETRIES + 1L));
    retry.close();
    return new Retry(maxRetries, base, multiplier, most, jitter, attempts);
  }

  private RetryBudget budget() {
    Section budget = section.child("retry-budget");
    Values amounts = new Values(budget);
    double ratio = amounts.number("ratio", 0.1, between(0.0, 100.0));
    double floor = amounts.number("min-per-second", 10, between(0.0, 1_000_000.0));
    if (budget.sound("ratio", "min-per-second") && ratio == 0 && floor == 0) {
      budget.fault("ratio", "0 beside min-per-second 0 lets no retry ever start", "one above 0");
    }
    budget.close();
    return new RetryBudget(ratio, floor);
  }

  private static String shown(Duration duration) {
    return DurationText.format(duration);
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private static Duration max(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }
}
