package dev.fencepost.cli;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Operations;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Function;

/** Where commands for operators find the use cases. */
interface Sessions {

  /** Opens what the use cases need. */
  Session open(FencepostConfig config);

  /** For one command; used by one thread. */
  interface Session extends AutoCloseable {

    /**
     * Asks and waits.
     *
     * @throws dev.fencepost.model.FencepostException the answer's failure; TIMEOUT past the
     *     deadline
     */
    <T> T ask(Duration deadline, Function<Operations, Future<T>> question);

    @Override
    void close();
  }
}
