package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Operations;
import dev.fencepost.pg.PgDatabase;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Function;

/** What commands for operators work in: the use cases over the database, for one question. */
public final class OperatorSession {

  private OperatorSession() {}

  /**
   * Opens the database, asks, waits for the answer, closes. Never used on an event loop.
   *
   * @throws dev.fencepost.model.FencepostException the answer's failure; TIMEOUT past the deadline
   */
  public static <T> T call(
      FencepostConfig config, Duration deadline, Function<Operations, Future<T>> question) {
    return Blocking.call(
        deadline,
        vertx -> {
          PgDatabase database = PgDatabase.open(vertx, config.database(), "fencepost-operator");
          return Future.<Void>succeededFuture()
              .compose(open -> question.apply(Operating.on(vertx, database, config)))
              .eventually(database::close);
        });
  }
}
