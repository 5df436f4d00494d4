package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds the writable one of several hosts, once for all who wait, and forgets it when a connection
 * to it was lost or turned out to be read-only. With one host there is nothing to look for.
 *
 * <p>Used from several contexts: the two fields below are its whole state.
 */
final class PgHosts {

  private static final String READ_ONLY =
      "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean";

  private final PgConnector connector;
  private final List<DatabaseUri> hosts;
  private final AtomicReference<Future<DatabaseUri>> writable = new AtomicReference<>();

  /** Raised when a connection turned out to be read-only: older ones are then not to be used. */
  private final AtomicInteger generation = new AtomicInteger();

  PgHosts(PgConnector connector, List<DatabaseUri> hosts) {
    this.connector = connector;
    this.hosts = hosts;
  }

  /**
   * @return fails with a {@link FencepostException} that names the host
   */
  Future<SqlConnection> connect(Context context, String applicationName) {
    return find(context)
        .compose(
            host ->
                connector
                    .connect(context, host, applicationName, generation.get())
                    .recover(
                        failure -> {
                          forget();
                          return Future.failedFuture(unreached(host, failure));
                        }));
  }

  /** A connection was lost: the next one looks for a writable host again. */
  void forget() {
    writable.set(null);
  }

  /** A connection was read-only: all that are open are suspect. */
  void retire() {
    generation.incrementAndGet();
    forget();
  }

  boolean retired(SqlConnection connection) {
    Integer opened = PgConnector.generation(connection);
    return opened != null && opened < generation.get();
  }

  private Future<DatabaseUri> find(Context context) {
    if (hosts.size() == 1) {
      return Future.succeededFuture(hosts.get(0));
    }
    Future<DatabaseUri> known = writable.get();
    if (known != null && !known.failed()) {
      return known;
    }
    Promise<DatabaseUri> found = Promise.promise();
    if (!writable.compareAndSet(known, found.future())) {
      return find(context);
    }
    search(context, 0, new ArrayList<>()).onComplete(found);
    return found.future();
  }

  private Future<DatabaseUri> search(Context context, int index, List<FencepostException> seen) {
    if (index == hosts.size()) {
      return Future.failedFuture(none(seen));
    }
    DatabaseUri host = hosts.get(index);
    return probe(context, host)
        .transform(
            result -> {
              if (result.succeeded()) {
                return Future.succeededFuture(host);
              }
              seen.add(unreached(host, result.cause()));
              return search(context, index + 1, seen);
            });
  }

  private Future<Void> probe(Context context, DatabaseUri host) {
    return connector
        .connect(context, host, "fencepost search", generation.get())
        .compose(
            connection ->
                connection
                    .query(READ_ONLY)
                    .execute()
                    .timeout(
                        host.session().connectTimeout().toMillis(),
                        java.util.concurrent.TimeUnit.MILLISECONDS)
                    .onComplete(any -> PgConnector.abort(connection)))
        .compose(
            rows ->
                rows.iterator().next().getBoolean(0)
                    ? Future.failedFuture(
                        new FencepostException(
                            FailureKind.DATABASE_READ_ONLY, host + " is read-only"))
                    : Future.succeededFuture());
  }

  private static FencepostException unreached(DatabaseUri host, Throwable failure) {
    FencepostException translated = PgErrors.translate(failure, host.toString());
    if (translated.kind() != FailureKind.TIMEOUT && translated.kind() != FailureKind.INTERNAL) {
      return translated;
    }
    return new FencepostException(
        FailureKind.DATABASE_UNREACHABLE,
        "cannot reach the database at " + host + ": " + failure.getMessage(),
        failure);
  }

  /** What a person can act on comes first: a wrong password before a host that is down. */
  private static FencepostException none(List<FencepostException> seen) {
    FencepostException first = seen.get(0);
    for (FencepostException each : seen) {
      if (each.kind() == FailureKind.DATABASE_AUTHENTICATION) {
        return each;
      }
      if (each.kind() == FailureKind.DATABASE_READ_ONLY) {
        first = each;
      }
    }
    List<String> reasons = seen.stream().map(Throwable::getMessage).toList();
    return new FencepostException(
        first.kind(), "no writable database: " + String.join("; ", reasons), first);
  }
}
