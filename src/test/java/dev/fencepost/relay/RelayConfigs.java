package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.config.FencepostConfig.Relay.Ordering;
import dev.fencepost.config.FencepostConfig.Relay.Paging;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Configurations of tests. */
final class RelayConfigs {
  static final Paging PAGING =
      new Paging(500, 1000, 16 << 20, Duration.ofMillis(2), Duration.ofMillis(250));
  static final FencepostConfig.LeaseTimes LEASE =
      new FencepostConfig.LeaseTimes(Duration.ofSeconds(3), Duration.ofMillis(900));
  static final Limits LIMITS =
      new Limits(
          16 << 20, Duration.ofSeconds(30), Duration.ofMillis(200), Duration.ofSeconds(2), 100_000);

  private RelayConfigs() {}

  static FencepostConfig.Relay relay(int lanes) {
    return new FencepostConfig.Relay(
        true, lanes, Ordering.KEY, PAGING, LEASE, Duration.ofHours(24), LIMITS);
  }

  static FencepostConfig.Relay with(FencepostConfig.Relay relay, Paging paging) {
    return new FencepostConfig.Relay(
        true,
        relay.lanes(),
        relay.ordering(),
        paging,
        relay.lease(),
        relay.retention(),
        relay.limits());
  }

  static FencepostConfig.Relay with(FencepostConfig.Relay relay, Limits limits) {
    return new FencepostConfig.Relay(
        true,
        relay.lanes(),
        relay.ordering(),
        relay.paging(),
        relay.lease(),
        relay.retention(),
        limits);
  }

  static FencepostConfig.Relay pipelined(FencepostConfig.Relay relay) {
    return new FencepostConfig.Relay(
        true,
        relay.lanes(),
        Ordering.PIPELINED,
        relay.paging(),
        relay.lease(),
        relay.retention(),
        relay.limits());
  }

  static FencepostConfig.Database database(String... uris) {
    return new FencepostConfig.Database(List.of(uris), "fencepost", 4);
  }

  static FencepostConfig.Broker broker(String uri) {
    return new FencepostConfig.Broker(List.of(uri), null, Duration.ofMinutes(30));
  }

  static FencepostConfig whole(
      FencepostConfig.Database database,
      FencepostConfig.Broker broker,
      FencepostConfig.Relay relay) {
    return new FencepostConfig(
        database,
        broker,
        relay,
        new FencepostConfig.Worker(
            false,
            1,
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            Duration.ofHours(1),
            Duration.ofDays(7)),
        Map.of(),
        new FencepostConfig.Operation(
            new FencepostConfig.Admin("127.0.0.1", 0, ""),
            new FencepostConfig.Metrics(false, false, false),
            false,
            FencepostConfig.LogFormat.TEXT));
  }
}
