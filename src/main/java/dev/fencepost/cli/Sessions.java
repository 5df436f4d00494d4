package dev.fencepost.cli;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Operations;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Function;

/** Where commands for operators find the use cases. */
interface Sessions {

  /**
   * Opens what the use cases need, asks, waits, closes.
   *
   * @throws dev.fencepost.model.FencepostException the answer's failure
   */
  <T> T call(FencepostConfig config, Duration deadline, Function<Operations, Future<T>> question);
}
