package dev.fencepost.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.function.Function;

/**
 * Transactions whose commit an acknowledgement may follow, over groups of rows found by key.
 *
 * <p>Each begins with settings of its own: durable whatever the server's or the pooler's default;
 * waiting only shortly for a lock; and planned as loops over the key's index, for a table that has
 * grown faster than its statistics would be read whole for each group.
 */
final class DurableWork {
  static final Duration DEADLINE = Duration.ofSeconds(15);

  static final String SETTINGS =
      """
      select set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '2s', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true),
        set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)
      """;

  private final PgDatabase database;

  DurableWork(PgDatabase database) {
    this.database = database;
  }

  PgDatabase database() {
    return database;
  }

  String sql(String text) {
    return database.sql(text);
  }

  /** Runs the work in one transaction; its first statement is sent with the begin. */
  <T> Future<T> transaction(Function<SqlConnection, Future<T>> work) {
    return database.inTransaction(
        DEADLINE,
        connection -> {
          Future<RowSet<Row>> settings = connection.preparedQuery(SETTINGS).execute();
          Future<T> result = work.apply(connection);
          return settings.compose(set -> result);
        });
  }

  /** One statement in such a transaction. */
  Future<RowSet<Row>> execute(String sql, Tuple values) {
    return transaction(connection -> connection.preparedQuery(sql).execute(values));
  }
}
