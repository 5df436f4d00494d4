package dev.fencepost.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether the database may forget a start that it has confirmed. Work that must not be repeated is
 * then repeated: nobody is left who knows that it was begun.
 */
public final class Durability {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private Durability() {}

  /**
   * @param hosts how many database hosts are configured: several expect a failover
   * @return each way to forget, with its remedy; none when there is none
   */
  public static Future<List<String>> faults(PgDatabase database, int hosts) {
    return database
        .with(
            DEADLINE,
            connection -> connection.query(database.sql(DurabilitySql.STANDBYS)).execute())
        .map(rows -> faults(rows.iterator().next(), hosts));
  }

  private static List<String> faults(Row row, int hosts) {
    List<String> faults = new ArrayList<>();
    boolean failsOver = row.getBoolean("standbys") || hosts > 1;
    if (failsOver && !row.getBoolean("synchronous")) {
      faults.add(
          "PostgreSQL has standbys and commits without waiting for one of them: a failover may"
              + " forget a start; set synchronous_standby_names, for example to 'ANY 1 (*)', and"
              + " reload PostgreSQL");
    }
    if (!row.getBoolean("fsync")) {
      faults.add(
          "PostgreSQL runs with fsync = off: a crash of its host may forget a start; set fsync = on"
              + " and reload PostgreSQL");
    }
    return faults;
  }
}
