package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;

/**
 * What the relay runs by.
 *
 * @param instance unique per process start
 */
public record RelaySettings(String instance, FencepostConfig.Relay relay) {

  FencepostConfig.Relay.Paging paging() {
    return relay.paging();
  }

  boolean ordered() {
    return relay.ordering() == FencepostConfig.Relay.Ordering.KEY;
  }

  /** Settled rows after which a checkpoint is due. */
  int checkpointRows() {
    return Math.max(1, relay.paging().window() / 4);
  }
}
