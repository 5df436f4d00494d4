package dev.fencepost.worker;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.QueueConfig;

/** Port: makes the handler that the configuration names. */
@FunctionalInterface
public interface HandlerSource {

  /**
   * Makes the handler of one activity type, once per process start.
   *
   * @throws dev.fencepost.model.FencepostException of kind CONFIGURATION when it cannot be made
   */
  BoundHandler handlerFor(QueueConfig queue, ActivityConfig activity);
}
