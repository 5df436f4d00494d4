package dev.fencepost.bench.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The connection pool that all peers are given. */
final class Pool {

  private Pool() {}

  static HikariDataSource of(String url, int size) {
    return of(url, size, false);
  }

  static HikariDataSource autoCommit(String url, int size) {
    return of(url, size, true);
  }

  private static HikariDataSource of(String url, int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url + "&reWriteBatchedInserts=true&prepareThreshold=1");
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(size);
    config.setAutoCommit(autoCommit);
    return new HikariDataSource(config);
  }
}
