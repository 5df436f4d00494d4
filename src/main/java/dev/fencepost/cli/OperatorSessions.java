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
  public Session open(FencepostConfig config) {
    return new OverDatabase(OperatorSession.open(config));
  }

  private record OverDatabase(OperatorSession session) implements Session {
    @Override
    public <T> T ask(Duration deadline, Function<Operations, Future<T>> question) {
      return session.ask(deadline, question);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
