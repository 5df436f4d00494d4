package dev.fencepost.embedded;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The demo's database as its application and its handlers use it: what they did stands in tables of
 * their own, and what came of each event in Fencepost's views.
 */
public final class DemoDatabase {

  private static final String TABLES =
      """
      create schema demo;
      create table demo.effects (event_id text not null, what text not null, at timestamptz default now());
      create index on demo.effects (event_id);
      create table demo.calls (event_id text not null, what text not null, attempt int not null);
      """;

  private static final Map<String, String> COUNTS = counts();

  private final String jdbcUrl;
  private final String user;
  private final String password;

  /**
   * @param uri as {@link EmbeddedPostgres#uri()} gives it
   */
  public DemoDatabase(String uri) {
    URI parsed = URI.create(uri);
    String[] login = parsed.getUserInfo().split(":", 2);
    this.jdbcUrl =
        "jdbc:postgresql://" + parsed.getHost() + ":" + parsed.getPort() + parsed.getPath();
    this.user = login[0];
    this.password = login[1];
  }

  /** The table that the demo's {@code sql} handler writes to, and those of its Java handlers. */
  public void create() throws SQLException {
    try (Connection connection = open();
        Statement statement = connection.createStatement()) {
      statement.execute(TABLES);
    }
  }

  /** What is there now, under the names of {@link DemoPlan#expected}. */
  public Map<String, Long> counted() throws SQLException {
    Map<String, Long> counted = new LinkedHashMap<>();
    try (Connection connection = open();
        Statement statement = connection.createStatement()) {
      for (Map.Entry<String, String> each : COUNTS.entrySet()) {
        try (ResultSet row = statement.executeQuery("select " + each.getValue())) {
          row.next();
          counted.put(each.getKey(), row.getLong(1));
        }
      }
    }
    return counted;
  }

  /** Rows that the handlers of the worker that is to die have written. */
  public long inHand() throws SQLException {
    try (Connection connection = open();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select (select count(*) from demo.calls) + (select count(*) from demo.effects)")) {
      row.next();
      return row.getLong(1);
    }
  }

  Connection open() throws SQLException {
    return DriverManager.getConnection(jdbcUrl, user, password);
  }

  private static Map<String, String> counts() {
    Map<String, String> counts = new LinkedHashMap<>();
    counts.put("events_committed", "count(*) from fencepost.outbox");
    counts.put(
        "events_committed_twice", "count(*) - count(distinct event_id) from fencepost.outbox");
    counts.put("effects", "count(distinct event_id) from demo.effects");
    counts.put("effects_twice", "count(*) - count(distinct event_id) from demo.effects");
    counts.put(
        "effects_of_rolled_back_events",
        "count(*) from demo.effects where event_id like 'rolled-back-%'");
    counts.put(
        "irreversible_calls_repeated",
        "count(*) - count(distinct event_id) from demo.calls where what = 'demo.charged'");
    counts.put("completed", "count(*) from fencepost.activities where state = 'completed'");
    counts.put("retries", "coalesce(sum(retries), 0) from fencepost.activities");
    counts.put("takeovers", "count(*) from fencepost.attempts where outcome = 'lease_lost'");
    for (String reason :
        new String[] {"poison_message", "permanent_failure", "retries_exhausted"}) {
      counts.put(
          "dead_" + reason, "count(*) from fencepost.dead_letters where reason = '" + reason + "'");
    }
    counts.put("manual_review", "count(*) from fencepost.activities where state = 'manual_review'");
    counts.put("parked", "count(*) from fencepost.parked where reason = 'unroutable'");
    counts.put(
        "unfinished",
        "count(*) from fencepost.activities"
            + " where state in ('running', 'retry_scheduled', 'blocked', 'unresolved')");
    return counts;
  }
}
