package dev.fencepost.boot;

import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.handlers.Handlers;
import java.util.List;

/**
 * The classes that a configuration names as handlers, looked up on this class path.
 *
 * @param missing those that are not on it: they may be where the service runs
 * @param unfit those that are, and cannot be handlers of their activity anywhere
 */
public record HandlerClasses(List<Fault> missing, List<Fault> unfit) {

  /** Loads each class and makes none. */
  public static HandlerClasses of(FencepostConfig config) {
    List<Fault> missing = Handlers.missing(config);
    List<Fault> unfit =
        Handlers.faults(config, (queue, activity) -> false).stream()
            .filter(fault -> !missing.contains(fault))
            .toList();
    return new HandlerClasses(missing, unfit);
  }
}
