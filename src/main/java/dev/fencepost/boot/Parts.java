package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;

/**
 * What of a configuration runs in this process.
 *
 * @param admin whether the HTTP side is served
 */
public record Parts(boolean relay, boolean worker, boolean admin) {

  /** What the file enables. */
  public static Parts of(FencepostConfig config) {
    return new Parts(config.relay().enabled(), config.worker().enabled(), true);
  }

  /** The relay alone, whatever the file says. */
  public static Parts relayOnly() {
    return new Parts(true, false, true);
  }

  /** The worker alone, whatever the file says. */
  public static Parts workerOnly() {
    return new Parts(false, true, true);
  }
}
