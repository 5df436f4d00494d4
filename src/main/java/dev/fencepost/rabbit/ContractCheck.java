package dev.fencepost.rabbit;

import dev.fencepost.config.QueueConfig;
import io.vertx.core.Future;

/** Looks at what the broker will do with a queue before anything is taken from it. */
interface ContractCheck {

  /**
   * @return fails with kind CONFIGURATION, naming the queue, the setting and the remedy, when it is
   *     unsafe
   */
  Future<Void> check(BrokerConnection connection, QueueConfig queue);
}
