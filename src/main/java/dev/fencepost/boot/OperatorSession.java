package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Operations;
import dev.fencepost.pg.PgDatabase;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Function;

/** What commands for operators work in: the use cases over the database, for one command. */
public final class OperatorSession implements AutoCloseable {

  private final Vertx vertx;
  private final PgDatabase database;
  private final Operations operations;

  private OperatorSession(Vertx vertx, FencepostConfig config) {
    this.vertx = vertx;
    this.database = PgDatabase.open(vertx, config.database(), "fencepost-operator");
    this.operations = Operating.on(vertx, database, config);
  }

  /** Opens the database. */
  public static OperatorSession open(FencepostConfig config) {
    Vertx vertx = Blocking.vertx();
    try {
      return new OperatorSession(vertx, config);
    } catch (RuntimeException e) {
      Blocking.close(vertx);
      throw e;
    }
  }

  /**
   * Asks and waits for the answer. Never used on an event loop.
   *
   * @throws dev.fencepost.model.FencepostException the answer's failure; TIMEOUT past the deadline
   */
  public <T> T ask(Duration deadline, Function<Operations, Future<T>> question) {
    return Blocking.await(question.apply(operations), deadline);
  }

  @Override
  public void close() {
    try {
      Blocking.await(database.close().otherwiseEmpty(), Blocking.CLOSING);
    } finally {
      Blocking.close(vertx);
    }
  }
}
