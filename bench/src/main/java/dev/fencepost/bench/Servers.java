package dev.fencepost.bench;

import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.RabbitServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * The broker, which all contenders share, and PostgreSQL servers, of which each contender has its
 * own: so its CPU time is its contender's alone, and it is frozen with it.
 */
final class Servers implements AutoCloseable {

  /** Marks what the harness asks of a database, so that it isn't counted as the contender's. */
  static final String BENCH = "/* bench */ ";

  private static final String CONTENDERS =
      "(select * from pg_stat_statements where query not like '%" + BENCH.strip() + "%') s";

  /** Debian's defaults and durability; statements are counted, and frozen clients are not dropped. */
  private static final Map<String, String> POSTGRES =
      Map.of(
          "shared_buffers", "128MB",
          "shared_preload_libraries", "pg_stat_statements",
          "wal_level", "logical",
          "wal_sender_timeout", "0",
          "max_wal_size", "2GB");

  private final RabbitServer rabbit = RabbitServer.start(Map.of("heartbeat", "0"));
  private final long rabbitPid = Long.parseLong(rabbit.eval("os:getpid()").replaceAll("\\D", ""));

  String brokerUri() {
    return rabbit.uri() + "?heartbeat=0";
  }

  long brokerPid() {
    return rabbitPid;
  }

  double brokerCpu() {
    return Proc.cpu(rabbitPid);
  }

  String brokerVersion() {
    return rabbit.eval("rabbit_misc:version()").replaceAll("[^0-9.]", "");
  }

  /** One database on a server of its own. */
  static final class Database implements AutoCloseable {

    private final PostgresServer server = PostgresServer.start(POSTGRES);
    private final String uri = server.newDatabase();
    private final long pid;
    private Connection watching;
    private boolean paused;

    Database() {
      PostgresServer.execute(uri, "create extension pg_stat_statements");
      pid = postmaster();
    }

    /** The parent of a session's process, asked while the session is there. */
    private long postmaster() {
      try (Connection connection = connect();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("select pg_backend_pid()")) {
        rows.next();
        return Proc.parent(rows.getLong(1));
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    String uri() {
      return uri;
    }

    String jdbcUrl() {
      return "jdbc:" + uri.replaceFirst("//.*@", "//") + "?user=postgres&password=fencepost";
    }

    Connection connect() throws SQLException {
      return PostgresServer.connect(uri);
    }

    void execute(String... statements) {
      PostgresServer.execute(uri, statements);
    }

    long number(String query) {
      return Long.parseLong(text(query));
    }

    String text(String query) {
      try (Connection connection = connect();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(query)) {
        rows.next();
        return rows.getString(1);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    /** The same for what is asked again and again: a session costs more to begin than a small query. */
    long watched(String query) {
      try {
        if (watching == null) {
          watching = connect();
        }
        try (Statement statement = watching.createStatement();
            ResultSet rows = statement.executeQuery(query)) {
          rows.next();
          return rows.getLong(1);
        }
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    double cpu() {
      return Proc.cpuOfFamily(pid);
    }

    /** The contender's statements since {@link #forgetStatements()}. */
    long statements() {
      return number(BENCH + "select coalesce(sum(calls), 0)::bigint from " + CONTENDERS);
    }

    /** The statements that took longest, for whoever looks for the cost. */
    String costliestStatements() {
      return text(
          BENCH
              + "select string_agg(format(E'%s calls  %s ms  %s rows  %s blocks\\n%s\\n', calls,"
              + " round(total_exec_time::numeric, 1), rows, shared_blks_hit + shared_blks_read,"
              + " query), E'\\n') from (select * from "
              + CONTENDERS
              + " order by total_exec_time desc limit 15) costly");
    }

    void forgetStatements() {
      execute(BENCH + "select pg_stat_statements_reset()");
    }

    void pause() {
      if (!paused) {
        server.pause();
        paused = true;
      }
    }

    void resume() {
      if (paused) {
        server.resume();
        paused = false;
      }
    }

    @Override
    public void close() {
      server.close();
    }
  }

  @Override
  public void close() {
    rabbit.close();
  }
}
