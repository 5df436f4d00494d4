package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The connection pool that all peers are given. */
final class Pool {

  private Pool() {}

  static HikariDataSource of(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url + "&reWriteBatchedInserts=true&prepareThreshold=1");
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(size);
    config.setAutoCommit(false);
    return new HikariDataSource(config);
  }
}
