package dev.fencepost.config;

import static dev.fencepost.config.Values.between;

import dev.fencepost.config.FencepostConfig.LeaseTimes;
import dev.fencepost.config.FencepostConfig.Relay;
import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.config.FencepostConfig.Relay.Ordering;
import dev.fencepost.config.FencepostConfig.Relay.Paging;
import dev.fencepost.config.Values.Range;
import java.time.Duration;

/** Reads {@code relay}. */
final class RelaySection {
  private static final long MIB = 1L << 20;
  private static final Range<Duration> PAUSE = between("1ms", "1h");

  private RelaySection() {}

  static Relay read(Section section) {
    Values values = new Values(section);
    boolean enabled = values.flag("enabled", true);
    int lanes = values.whole("lanes", 8, between(1, 64));
    Ordering ordering = values.choice("ordering", Ordering.KEY);
    Paging paging = paging(section, values);
    LeaseTimes lease =
        LeaseSection.read(
            section.child("lease"), new LeaseTimes(Duration.ofSeconds(10), Duration.ofSeconds(3)));
    Duration retention = values.duration("retention", Duration.ofHours(24), between("1s", "365d"));
    Limits limits = limits(section, values);
    section.close();
    return new Relay(enabled, lanes, ordering, paging, lease, retention, limits);
  }

  private static Paging paging(Section section, Values values) {
    int size = values.whole("page-size", 500, between(1, 10_000));
    int window = values.whole("window", 1_000, between(1, 100_000));
    long bytes = values.size("window-bytes", 16 * MIB, between(1_024, 1_024 * MIB));
    Section poll = section.child("poll");
    Values pace = new Values(poll);
    Duration max = pace.duration("max", Duration.ofMillis(250), PAUSE);
    Duration min = pace.duration("min", shorter(Duration.ofMillis(2), max), PAUSE);
    Bounds.notAbove(poll, new Bounds.Named("min", min), new Bounds.Named("max", max));
    poll.close();
    return new Paging(size, window, bytes, min, max);
  }

  private static Limits limits(Section section, Values values) {
    // 512 MiB is what RabbitMQ can be set to at most.
    long message = values.size("max-message-size", 16 * MIB, between(1, 512 * MIB));
    Duration confirm =
        values.duration("confirm-timeout", Duration.ofSeconds(30), between("10ms", "1h"));
    Section parked = section.child("parked");
    int rows = new Values(parked).whole("max-rows", 100_000, between(1, 100_000_000));
    Section backoff = parked.child("backoff");
    Values delays = new Values(backoff);
    Duration max = delays.duration("max", Duration.ofMinutes(5), between("1ms", "7d"));
    Duration base =
        delays.duration("base", shorter(Duration.ofSeconds(1), max), between("1ms", "7d"));
    Bounds.notAbove(backoff, new Bounds.Named("base", base), new Bounds.Named("max", max));
    backoff.close();
    parked.close();
    return new Limits(message, confirm, base, max, rows);
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
