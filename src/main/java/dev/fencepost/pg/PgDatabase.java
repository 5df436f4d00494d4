package dev.fencepost.pg;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.spi.PgDriver;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Transaction;
import io.vertx.sqlclient.internal.pool.PoolImpl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database as every store of this room uses it: a pool on the writable host, work with a
 * deadline, failures translated once.
 *
 * <p>A deadline that passes closes the connection: nothing is known then, the statement may still
 * have been carried out.
 */
public final class PgDatabase {

  private static final Logger LOG = LoggerFactory.getLogger(PgDatabase.class);
  private static final int ACQUIRE_SECONDS = 30;
  private static final int IDLE_SECONDS = 300;

  private final Vertx vertx;
  private final PgHosts hosts;
  private final Pool pool;
  private final FencepostConfig.Database config;
  private final String schema;
  private final String applicationName;
  private final List<PgDatabase> siblings = new ArrayList<>();

  private PgDatabase(
      Vertx vertx, FencepostConfig.Database config, PgHosts hosts, String applicationName) {
    this.vertx = vertx;
    this.hosts = hosts;
    this.config = config;
    this.schema = quote(config.schema());
    this.applicationName = applicationName;
    this.pool = pool(config.poolSize());
  }

  /**
   * Opens nothing yet: the first use connects, on the event loop of the one who asks.
   *
   * @param applicationName shown in {@code pg_stat_activity}
   * @throws FencepostException of kind CONFIGURATION when a URI is wrong
   */
  public static PgDatabase open(
      Vertx vertx, FencepostConfig.Database config, String applicationName) {
    return open(vertx, config, applicationName, Map.of());
  }

  private static PgDatabase open(
      Vertx vertx,
      FencepostConfig.Database config,
      String applicationName,
      Map<String, String> settings) {
    List<DatabaseUri> uris =
        config.uris().stream()
            .flatMap(uri -> DatabaseUri.parse(uri).stream())
            .map(uri -> uri.with(settings))
            .toList();
    return new PgDatabase(
        vertx, config, new PgHosts(new PgConnector(vertx), uris), applicationName);
  }

  /**
   * The same database, by sessions of its own that have these settings; closed with this one. A
   * pooler refuses settings: behind one they are left out.
   */
  PgDatabase sibling(Map<String, String> settings) {
    PgDatabase sibling = open(vertx, config, applicationName, settings);
    siblings.add(sibling);
    return sibling;
  }

  /** For single statements without a deadline of their own; prefer {@link #with}. */
  public Pool pool() {
    return pool;
  }

  /** Puts the quoted schema in place of <code>${schema}</code>. */
  public String sql(String text) {
    return text.replace("${schema}", schema);
  }

  /** The schema as it stands in statements: quoted. */
  public String schema() {
    return schema;
  }

  /** A name as an SQL identifier. */
  public static String quote(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /**
   * A connection of its own, outside the pool, for what must not wait behind others: renewals,
   * {@code LISTEN}. The caller closes it, and opens another when it was lost.
   */
  public Future<SqlConnection> dedicated(String purpose) {
    return hosts
        .connect(vertx.getOrCreateContext(), PgConnector.named(applicationName, purpose))
        .map(PgDatabase::quiet);
  }

  /**
   * Runs {@code work} on a connection of the pool.
   *
   * @param deadline for all of it, waiting for a connection included
   * @return fails with a {@link FencepostException} for what the database did; with TIMEOUT when
   *     the deadline has passed; a failure of the work's own comes through unchanged
   */
  public <T> Future<T> with(Duration deadline, Function<SqlConnection, Future<T>> work) {
    return onContext(() -> new Borrowing<T>(vertx, this, deadline).run(acquire(), work));
  }

  /**
   * As {@link #with}, in one transaction: committed when the work succeeds, else rolled back. The
   * work's first statements are sent together with the begin.
   */
  public <T> Future<T> inTransaction(Duration deadline, Function<SqlConnection, Future<T>> work) {
    return with(deadline, connection -> transact(connection, work));
  }

  /** As {@link #with}, on a connection that the caller keeps; it is closed on expiry. */
  public <T> Future<T> on(
      SqlConnection connection, Duration deadline, Function<SqlConnection, Future<T>> work) {
    return onContext(() -> new Borrowing<T>(vertx, this, deadline).keep(connection, work));
  }

  /** As {@link #on}, in one transaction. */
  public <T> Future<T> inTransactionOn(
      SqlConnection connection, Duration deadline, Function<SqlConnection, Future<T>> work) {
    return on(connection, deadline, c -> transact(c, work));
  }

  /** Closes the socket at once, whatever is in flight. */
  public static void abort(SqlConnection connection) {
    PgConnector.abort(connection);
  }

  public Future<Void> close() {
    List<Future<Void>> all = new ArrayList<>(siblings.stream().map(PgDatabase::close).toList());
    all.add(pool.close());
    return Future.join(all).mapEmpty();
  }

  /** A borrowing is confined to one context; a thread that has none gets one. */
  private <T> Future<T> onContext(Supplier<Future<T>> use) {
    if (Vertx.currentContext() != null) {
      return use.get();
    }
    Promise<T> promise = Promise.promise();
    vertx.getOrCreateContext().runOnContext(v -> use.get().onComplete(promise));
    return promise.future();
  }

  /**
   * A broken connection is closed, and a read-only one convicts its host. A closed one leaves the
   * pool by itself: giving it back as well would offer it to the next who waits.
   *
   * @return whether the connection is still to be given back
   */
  boolean usableAfter(FencepostException failure, SqlConnection connection) {
    switch (failure.kind()) {
      case DATABASE_READ_ONLY -> hosts.retire();
      case DATABASE_UNREACHABLE, TIMEOUT -> hosts.forget();
      default -> {
        return true;
      }
    }
    abort(connection);
    return false;
  }

  static <T> Future<T> attempt(SqlConnection connection, Function<SqlConnection, Future<T>> work) {
    try {
      return work.apply(connection);
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private static <T> Future<T> transact(
      SqlConnection connection, Function<SqlConnection, Future<T>> work) {
    Future<Transaction> begun = connection.begin();
    Future<T> result = attempt(connection, work);
    return begun.compose(
        transaction ->
            result.transform(
                done ->
                    done.succeeded()
                        ? transaction.commit().map(v -> done.result())
                        : transaction
                            .rollback()
                            .transform(rolledBack -> Future.failedFuture(done.cause()))));
  }

  private Future<SqlConnection> acquire() {
    return pool.getConnection()
        .compose(
            connection -> {
              if (hosts.retired(connection)) {
                abort(connection);
                return acquire();
              }
              return Future.succeededFuture(quiet(connection));
            });
  }

  /** What breaks a connection fails its statements; without a handler it is printed besides. */
  private static SqlConnection quiet(SqlConnection connection) {
    return connection.exceptionHandler(
        e -> LOG.debug("database connection failed: {}", e.getMessage()));
  }

  private Pool pool(int size) {
    PoolOptions options =
        new PoolOptions()
            .setMaxSize(size)
            .setName(applicationName)
            .setConnectionTimeout(ACQUIRE_SECONDS)
            .setConnectionTimeoutUnit(TimeUnit.SECONDS)
            .setIdleTimeout(IDLE_SECONDS)
            .setIdleTimeoutUnit(TimeUnit.SECONDS);
    CloseFuture closing = new CloseFuture();
    // The driver's own way of making a pool, but for connecting: that needs a deadline.
    Function<Context, Future<SqlConnection>> connect =
        context -> hosts.connect(context, applicationName);
    return new PoolImpl(
            (VertxInternal) vertx,
            PgDriver.INSTANCE,
            false,
            options,
            null,
            null,
            connect,
            null,
            closing)
        .init();
  }

  static FencepostException expired(Duration deadline) {
    return new FencepostException(
        FailureKind.TIMEOUT, "no answer from the database in " + deadline.toMillis() + " ms");
  }
}
