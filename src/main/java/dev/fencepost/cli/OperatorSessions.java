package dev.fencepost.cli;

import dev.fencepost.boot.OperatorSession;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Operations;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Function;

/** The use cases over the database of the configuration. */
final class OperatorSessions implements Sessions {
  @Override
  public <T> T call(
      FencepostConfig config, Duration deadline, Function<Operations, Future<T>> question) {
    return OperatorSession.call(config, deadline, question);
  }
}
