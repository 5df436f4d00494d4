package dev.fencepost.worker;

import dev.fencepost.testing.PostgresServer;
import java.time.Duration;

/**
 * Moves the database's time on for everything that the worker has stored. A server's clock cannot
 * be moved from a test, so every time that stands in a row (leases, due times, starts, receipts) is
 * moved into the past instead, in one transaction: to each statement it is as if the clock had been
 * put forward.
 */
final class DatabaseTime {
  private DatabaseTime() {}

  static void advance(String database, Duration by) {
    PostgresServer.execute(database, ADVANCE.replace("${by}", Long.toString(by.toSeconds())));
  }

  /**
   * All times of the worker's tables but the audit log's, which is append-only and decides nothing.
   */
  private static final String ADVANCE =
      """
      do $$ declare moved record; begin
        lock table fencepost.activity in share row exclusive mode;
        for moved in
          select table_name,
            string_agg(format('%1$I = %1$I - interval ''${by} seconds''', column_name), ', ') as times
          from information_schema.columns
          where table_schema = 'fencepost' and data_type = 'timestamp with time zone'
            and table_name in ('activity', 'attempt', 'claim_batch', 'dead_letter', 'receipt')
          group by table_name
        loop
          execute format('update fencepost.%I set %s', moved.table_name, moved.times);
        end loop;
        update fencepost.start_window set second = second - ${by};
      end $$
      """;
}
