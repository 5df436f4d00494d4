package dev.fencepost.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class PostgresServerIT {

  private static String query(String uri, String sql) throws SQLException {
    try (Connection connection = PostgresServer.connect(uri)) {
      return query(connection, sql);
    }
  }

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Test
  void everyDatabaseIsEmptyAndDurable() throws SQLException {
    PostgresServer server = TestServers.postgres();
    String first = server.newDatabase();
    PostgresServer.execute(first, "create table here (id int)");
    String second = server.newDatabase();
    assertThat(query(first, "select to_regclass('here')")).isEqualTo("here");
    assertThat(query(second, "select to_regclass('here')")).isNull();
    assertThat(TestServers.postgres()).isSameAs(server);
    assertThat(query(first, "show fsync")).isEqualTo("on");
    assertThat(query(first, "show max_prepared_transactions")).isEqualTo("20");
  }

  @Test
  void passwordsAreChecked() {
    String uri = TestServers.postgres().uri();
    assertThatThrownBy(() -> PostgresServer.connect(PostgresServer.uriAs(uri, "postgres", "no")))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("28P01"));
  }

  @Test
  void survivesKillAndStopWithWhatWasCommitted() throws SQLException {
    try (PostgresServer server = PostgresServer.start(Map.of("max_connections", "50"))) {
      String uri = server.newDatabase();
      assertThat(query(uri, "show max_connections")).isEqualTo("50");
      PostgresServer.execute(uri, "create table kept (id int)", "insert into kept values (1)");
      Connection open = PostgresServer.connect(uri);
      server.kill();
      assertThat(server.isRunning()).isFalse();
      assertThatThrownBy(() -> query(open, "select 1")).isInstanceOf(SQLException.class);
      assertThatThrownBy(() -> PostgresServer.connect(uri)).isInstanceOf(SQLException.class);
      server.restart();
      PostgresServer.execute(uri, "insert into kept values (2)");
      server.stop();
      assertThat(server.isRunning()).isFalse();
      server.restart();
      assertThat(query(uri, "select count(*) from kept")).isEqualTo("2");
    }
  }

  @Test
  void pausedSessionsAreSilentAndGoOn() throws Exception {
    try (PostgresServer server = PostgresServer.start();
        Connection open = PostgresServer.connect(server.uri())) {
      assertThat(query(open, "select 1")).isEqualTo("1");
      server.pause();
      open.setNetworkTimeout(Runnable::run, 300);
      assertThatThrownBy(() -> query(open, "select 2")).isInstanceOf(SQLException.class);
      server.resume();
      assertThat(query(server.uri(), "select 3")).isEqualTo("3");
      Connection other = PostgresServer.connect(server.uri());
      server.dropConnections();
      assertThatThrownBy(() -> query(other, "select 4")).isInstanceOf(SQLException.class);
    }
  }

  @Test
  void aReplicaFollowsAndTakesOver() throws SQLException {
    try (PostgresServer primary = PostgresServer.start()) {
      String uri = primary.newDatabase();
      String database = uri.substring(uri.lastIndexOf('/') + 1);
      PostgresServer replica = primary.startReplica();
      PostgresServer.execute(uri, "create table t (id int)", "insert into t values (42)");
      Await.until(
          "the replica has the row",
          Duration.ofSeconds(20),
          () -> query(replica.uri(database), "select id from t").equals("42"));
      assertThat(query(replica.uri(), "show transaction_read_only")).isEqualTo("on");
      assertThat(query(primary.uri(), "select application_name from pg_stat_replication"))
          .isEqualTo("replica");
      primary.kill();
      replica.promote();
      PostgresServer.execute(replica.uri(database), "insert into t values (43)");
      assertThat(query(replica.uri(), "show transaction_read_only")).isEqualTo("off");
    }
  }

  @Test
  void aServerSomebodyElseRunsIsNeverTouched() throws SQLException {
    PostgresServer outside = PostgresServer.outside(TestServers.postgres().uri());
    assertThat(query(outside.newDatabase(), "select 1")).isEqualTo("1");
    assertThatThrownBy(outside::kill)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("refused")
        .hasMessageContaining(TestServers.DATABASE_URI);
    outside.close();
    assertThat(TestServers.postgres().isRunning()).isTrue();
  }
}
