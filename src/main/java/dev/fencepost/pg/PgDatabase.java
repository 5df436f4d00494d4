package dev.fencepost.pg;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.flow.Attempt;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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

  /** Each look wakes the event loop of a pool; unless told, the client takes one a second. */
  private static final int LOOK_FOR_IDLE_MILLIS = 30_000;

  /**
   * For sessions that read pages, by one process: several would read all there is and sort it for
   * the first five hundred rows. Sorts stay allowed: to forbid one that cannot be avoided drowns
   * all differences of cost. Planned once: left to itself the server plans for eight partitions
   * each time, which costs several times what the reading does.
   */
  static final Map<String, String> BY_INDEX =
      Map.of(
          "enable_seqscan", "off",
          "enable_bitmapscan", "off",
          "max_parallel_workers_per_gather", "0",
          "plan_cache_mode", "force_generic_plan");

  private static final String FOR_TRANSACTIONS =
      "set local " + PgConnector.IDLE_IN_TRANSACTION + " = '" + PgConnector.LONGEST_IDLE + "'; ";

  private final Vertx vertx;
  private final PgHosts hosts;
  private final Pool pool;
  private final FencepostConfig.Database config;
  private final String schema;
  private final String applicationName;

  /** Run at the beginning of each transaction, where the session itself cannot keep it; or null. */
  private final @Nullable String local;

  /** Whether single statements need a transaction to begin with it, too. */
  private final boolean always;

  private @Nullable PgDatabase byIndex;

  private PgDatabase(
      Vertx vertx,
      FencepostConfig.Database config,
      PgHosts hosts,
      String applicationName,
      @Nullable String local) {
    this.vertx = vertx;
    this.hosts = hosts;
    this.config = config;
    this.schema = quote(config.schema());
    this.applicationName = applicationName;
    this.always = local != null;
    this.local = local != null || !hosts.pooled() ? local : FOR_TRANSACTIONS;
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
    List<DatabaseUri> uris =
        config.uris().stream().flatMap(uri -> DatabaseUri.parse(uri).stream()).toList();
    PgHosts hosts = new PgHosts(new PgConnector(vertx), uris);
    return new PgDatabase(vertx, config, hosts, applicationName, null);
  }

  /** What is wrong with one of {@code database.uris}; empty for one that can be used. */
  public static Optional<String> uriFault(String uri) {
    return DatabaseUri.fault(uri);
  }

  /**
   * The same database by as many sessions again, which read by index whatever the planner believes:
   * with statistics from when a table was nearly empty it would read a whole backlog. What one of
   * the two learns of the hosts both know; it is closed with this one.
   *
   * <p>Behind a pooler, where a session keeps nothing, each use is one transaction that says so
   * first: what a use's statements are to see committed of each other needs uses of its own.
   */
  PgDatabase byIndex() {
    PgDatabase same = byIndex;
    if (same == null) {
      String local = pooled() ? localSettings() : null;
      same = new PgDatabase(vertx, config, hosts.with(BY_INDEX), applicationName, local);
      byIndex = same;
    }
    return same;
  }

  private static String localSettings() {
    // What is switched off looks so dear that the server would compile the statement, for seconds.
    StringBuilder sql = new StringBuilder(FOR_TRANSACTIONS + "set local jit = off; ");
    BY_INDEX.forEach((name, value) -> sql.append("set local " + name + " = " + value + "; "));
    return sql.toString();
  }

  /** Whether {@code pgbouncer=true} says that sessions do not outlive a transaction. */
  boolean pooled() {
    return hosts.pooled();
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
    Function<SqlConnection, Future<T>> all = always ? c -> transact(c, work) : work;
    return borrow(deadline, all);
  }

  /**
   * As {@link #with}, in one transaction: committed when the work succeeds, else rolled back. The
   * work's first statements are sent together with the begin.
   */
  public <T> Future<T> inTransaction(Duration deadline, Function<SqlConnection, Future<T>> work) {
    return borrow(deadline, connection -> transact(connection, work));
  }

  /** As {@link #with}, on a connection that the caller keeps; it is closed on expiry. */
  public <T> Future<T> on(
      SqlConnection connection, Duration deadline, Function<SqlConnection, Future<T>> work) {
    return keep(connection, deadline, always ? c -> transact(c, work) : work);
  }

  /** As {@link #on}, in one transaction. */
  public <T> Future<T> inTransactionOn(
      SqlConnection connection, Duration deadline, Function<SqlConnection, Future<T>> work) {
    return keep(connection, deadline, c -> transact(c, work));
  }

  private <T> Future<T> borrow(Duration deadline, Function<SqlConnection, Future<T>> work) {
    return onContext(() -> new Borrowing<T>(vertx, this, deadline).run(acquire(), work));
  }

  private <T> Future<T> keep(
      SqlConnection connection, Duration deadline, Function<SqlConnection, Future<T>> work) {
    return onContext(() -> new Borrowing<T>(vertx, this, deadline).keep(connection, work));
  }

  /** Closes the socket at once, whatever is in flight. */
  public static void abort(SqlConnection connection) {
    PgConnector.abort(connection);
  }

  public Future<Void> close() {
    PgDatabase other = byIndex;
    Future<Void> closed = other == null ? Future.succeededFuture() : other.close();
    return Future.join(closed, pool.close()).mapEmpty();
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
    if (PgErrors.outdatedPlan(failure)) {
      hosts.retire(); // those of the other connections are no better
      abort(connection);
      return false;
    }
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

  /** Whatever the work does wrong: the connection is given back. */
  static <T> Future<T> attempt(SqlConnection connection, Function<SqlConnection, Future<T>> work) {
    return Attempt.of(() -> work.apply(connection));
  }

  private <T> Future<T> transact(
      SqlConnection connection, Function<SqlConnection, Future<T>> work) {
    Future<Transaction> begun = connection.begin();
    if (local != null) {
      connection.query(local).execute();
    }
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
            .setIdleTimeoutUnit(TimeUnit.SECONDS)
            .setPoolCleanerPeriod(LOOK_FOR_IDLE_MILLIS);
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
