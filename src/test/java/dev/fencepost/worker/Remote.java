package dev.fencepost.worker;

import dev.fencepost.model.ActivityKind;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * The remote that activities call: it writes every call down, deduplicates for {@code idempotent}
 * ones, and does nothing for a {@code queryable} one with a lower fence than it has seen.
 */
final class Remote {
  private final String uri;
  private final ThreadLocal<Connection> threads = new ThreadLocal<>();

  Remote(String uri) {
    this.uri = uri;
  }

  static void create(String uri) {
    PostgresServer.execute(
        uri,
        "create table remote_call(id bigserial, event_id text, fence bigint)",
        "create table remote_effect(id bigserial, event_id text, once text unique)",
        "create table effect(id bigserial, event_id text)",
        "create index on remote_effect(event_id)",
        "create index on remote_call(event_id)");
  }

  void call(String eventId, long fence, ActivityKind kind) throws SQLException {
    boolean deduplicates = kind == ActivityKind.IDEMPOTENT;
    boolean fenced = kind == ActivityKind.QUERYABLE;
    try {
      Connection connection = mine();
      try (PreparedStatement call =
          connection.prepareStatement(
              "with call as (insert into remote_call(event_id, fence) values (?, ?))"
                  + " insert into remote_effect(event_id, once) select ?, ? where not ? or not exists"
                  + " (select 1 from remote_call where event_id = ? and fence > ?)"
                  + " on conflict do nothing")) {
        call.setString(1, eventId);
        call.setLong(2, fence);
        call.setString(3, eventId);
        call.setString(4, deduplicates ? eventId : null);
        call.setBoolean(5, fenced);
        call.setString(6, eventId);
        call.setLong(7, fence);
        call.executeUpdate();
      }
    } catch (SQLException e) {
      threads.remove();
      throw e;
    }
  }

  /** A connection per calling thread: to open one for each call would be the whole cost. */
  private Connection mine() throws SQLException {
    Connection connection = threads.get();
    if (connection == null || connection.isClosed()) {
      connection = PostgresServer.connect(uri);
      threads.set(connection);
    }
    return connection;
  }

  boolean happened(String eventId) throws SQLException {
    return count("remote_effect", eventId) > 0;
  }

  long count(String table, String eventId) {
    try (Connection connection = PostgresServer.connect(uri);
        PreparedStatement query =
            connection.prepareStatement("select count(*) from " + table + " where event_id = ?")) {
      query.setString(1, eventId);
      try (ResultSet rows = query.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The state of an activity, by its event; null when there is none. */
  @Nullable String state(String eventId) {
    return ask("select state from fencepost.activities where event_id = '" + eventId + "'");
  }

  long number(String sql) {
    return Long.parseLong(ask(sql));
  }

  /** The first column of a query, as text. */
  String ask(String sql) {
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
