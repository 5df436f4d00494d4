package dev.fencepost.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A connection kept outside the pool, opened when first used and again when it was lost. Uses do
 * not overlap: the caller waits for one before the next.
 */
final class OwnConnection {
  private final PgDatabase database;
  private final String purpose;
  private @Nullable SqlConnection connection;

  OwnConnection(PgDatabase database, String purpose) {
    this.database = database;
    this.purpose = purpose;
  }

  <T> Future<T> with(Duration deadline, Function<SqlConnection, Future<T>> work) {
    return open()
        .compose(
            c ->
                database
                    .on(c, deadline, work)
                    .onFailure(
                        e -> {
                          if (connection == c) {
                            connection = null;
                          }
                          c.close();
                        }));
  }

  private Future<SqlConnection> open() {
    if (connection != null) {
      return Future.succeededFuture(connection);
    }
    return database
        .dedicated(purpose)
        .onSuccess(
            opened -> {
              connection = opened;
              opened.closeHandler(
                  v -> {
                    if (connection == opened) {
                      connection = null;
                    }
                  });
            });
  }

  Future<Void> close() {
    SqlConnection open = connection;
    connection = null;
    return open == null ? Future.succeededFuture() : open.close();
  }
}
