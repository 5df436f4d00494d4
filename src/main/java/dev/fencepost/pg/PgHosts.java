package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds the writable one of several hosts, once for all who wait, and forgets it when a connection
 * to it was lost or turned out to be read-only. With one host there is nothing to look for.
 *
 * <p>Used from several contexts: the two atomic fields below are its whole state.
 */
final class PgHosts {

  private static final String READ_ONLY =
      "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean";

  private final PgConnector connector;
  private final List<DatabaseUri> hosts;

  /** Which one is writable, by its place among them. */
  private final AtomicReference<Future<Integer>> writable;

  /** Raised when a connection turned out to be read-only: older ones are then not to be used. */
  private final AtomicInteger generation;

  PgHosts(PgConnector connector, List<DatabaseUri> hosts) {
    this(connector, hosts, new AtomicReference<>(), new AtomicInteger());
  }

  private PgHosts(
      PgConnector connector,
      List<DatabaseUri> hosts,
      AtomicReference<Future<Integer>> writable,
      AtomicInteger generation) {
    this.connector = connector;
    this.hosts = hosts;
    this.writable = writable;
    this.generation = generation;
  }

  /** The same hosts, for sessions with these settings: what one of the two learns both know. */
  PgHosts with(Map<String, String> settings) {
    List<DatabaseUri> same = hosts.stream().map(uri -> uri.with(settings)).toList();
    return new PgHosts(connector, same, writable, generation);
  }

  /** Whether a pooler stands before one of them, which gives each transaction another session. */
  boolean pooled() {
    return hosts.stream().anyMatch(host -> host.session().pooler());
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
                    .compose(opened -> keepsSettings(host, opened))
                    .recover(
                        failure -> {
                          forget();
                          return Future.failedFuture(unreached(host, failure));
                        }));
  }

  /**
   * A pooler may be told to drop the settings that it does not know. Without prepared statements
   * kept for one session it would run others than those that were asked for.
   */
  private static Future<SqlConnection> keepsSettings(DatabaseUri host, SqlConnection opened) {
    if (host.session().pooler()) {
      return Future.succeededFuture(opened);
    }
    return opened
        .query("select current_setting('jit')")
        .execute()
        .timeout(host.session().connectTimeout().toMillis(), TimeUnit.MILLISECONDS)
        .compose(
            rows ->
                rows.iterator().next().getString(0).equals("off")
                    ? Future.succeededFuture(opened)
                    : Future.failedFuture(pooler(host, "settings of the session were dropped")))
        .onFailure(e -> PgConnector.abort(opened));
  }

  private static FencepostException pooler(DatabaseUri host, String why) {
    return new FencepostException(
        FailureKind.CONFIGURATION, host + ": " + why + ": " + DatabaseUri.POOLER);
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
    return hosts.size() == 1
        ? Future.succeededFuture(hosts.get(0))
        : place(context).map(hosts::get);
  }

  private Future<Integer> place(Context context) {
    Future<Integer> known = writable.get();
    if (known != null && !known.failed()) {
      return known;
    }
    Promise<Integer> found = Promise.promise();
    if (!writable.compareAndSet(known, found.future())) {
      return place(context);
    }
    search(context, 0, new ArrayList<>()).onComplete(found);
    return found.future();
  }

  private Future<Integer> search(Context context, int index, List<FencepostException> seen) {
    if (index == hosts.size()) {
      return Future.failedFuture(none(seen));
    }
    DatabaseUri host = hosts.get(index);
    return probe(context, host)
        .transform(
            result -> {
              if (result.succeeded()) {
                return Future.succeededFuture(index);
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
                    .timeout(host.session().connectTimeout().toMillis(), TimeUnit.MILLISECONDS)
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
    if (PgErrors.refusesSettings(failure)) {
      return pooler(host, String.valueOf(failure.getMessage()));
    }
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
      if (each.kind() == FailureKind.DATABASE_AUTHENTICATION
          || each.kind() == FailureKind.CONFIGURATION) {
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
