package dev.fencepost.pg;

import dev.fencepost.model.FencepostException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One use of a connection: taken, used, given back, within a deadline. Its state is confined to the
 * context that asked: waiting → using → over, or → over when the deadline passes.
 */
final class Borrowing<T> {

  private final Vertx vertx;
  private final PgDatabase database;
  private final Duration deadline;
  private final Promise<T> promise = Promise.promise();
  private @Nullable SqlConnection connection;
  private boolean over;
  private boolean kept;
  private long timer;

  Borrowing(Vertx vertx, PgDatabase database, Duration deadline) {
    this.vertx = vertx;
    this.database = database;
    this.deadline = deadline;
  }

  Future<T> run(Future<SqlConnection> acquired, Function<SqlConnection, Future<T>> work) {
    timer = vertx.setTimer(Math.max(1, deadline.toMillis()), id -> expire());
    acquired.onComplete(got -> use(got, work));
    return promise.future();
  }

  Future<T> keep(SqlConnection own, Function<SqlConnection, Future<T>> work) {
    kept = true;
    return run(Future.succeededFuture(own), work);
  }

  private void use(AsyncResult<SqlConnection> got, Function<SqlConnection, Future<T>> work) {
    if (got.failed()) {
      finish(Future.failedFuture(got.cause()));
    } else if (over) {
      got.result().close();
    } else {
      connection = got.result();
      PgDatabase.attempt(connection, work).onComplete(this::finish);
    }
  }

  private void finish(AsyncResult<T> result) {
    if (over) {
      return;
    }
    over = true;
    vertx.cancelTimer(timer);
    if (result.succeeded()) {
      release();
      promise.complete(result.result());
      return;
    }
    Throwable failure = result.cause();
    if (!PgErrors.isDatabase(failure)) {
      release();
      promise.fail(failure);
      return;
    }
    FencepostException translated = PgErrors.translate(failure);
    if (connection != null && database.usableAfter(translated, connection)) {
      release();
    }
    promise.fail(translated);
  }

  private void expire() {
    if (over) {
      return;
    }
    over = true;
    FencepostException failure = PgDatabase.expired(deadline);
    if (connection != null) {
      database.usableAfter(failure, connection);
    }
    promise.fail(failure);
  }

  private void release() {
    if (connection != null && !kept) {
      connection.close();
    }
  }
}
