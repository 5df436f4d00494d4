package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A session that holds back vacuum for long, under load: what a poll costs stays what it was. */
@Tag("soak")
class VacuumSoakIT {
  private static final int ROWS = 10;
  private static final Duration EVERY = Duration.ofMillis(50);

  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);
  private PostgresServer server;
  private Outbox outbox;

  /** One kind of statement: how often it ran, and the pages it touched. */
  private record Cost(long calls, double buffers) {}

  @BeforeEach
  void start() {
    server =
        PostgresServer.start(
            Map.of(
                "shared_preload_libraries", "pg_stat_statements",
                "autovacuum_naptime", "5s"));
    outbox = new Outbox(server.newDatabase());
    Databases.migrate(outbox.uri(), relay);
    outbox.execute("create extension pg_stat_statements");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void aPollCostsTheSameAfterTenMinutesWithoutVacuum() throws Exception {
    String vhost = TestServers.broker().newVhost();
    try (Arrivals arrivals = new Arrivals(vhost);
        Connection holder = PostgresServer.connect(outbox.uri());
        Statement held = holder.createStatement();
        RelayProcess process = RelayProcess.onRabbit(outbox.uri(), vhost, relay)) {
      arrivals.declare("q", Map.of("x-max-length", 1000));
      Await.until("lanes", () -> process.lanes() == 8);
      AtomicInteger written = new AtomicInteger();
      try (Soak.Steady writer = new Soak.Steady(EVERY, () -> write(written))) {
        Await.until("it flows", () -> written.get() > 1000);
        holder.setAutoCommit(false);
        held.execute("set transaction isolation level repeatable read");
        held.execute("select pg_current_xact_id()");
        Map<String, Cost> first = sample();
        Soak.pass(Soak.duration());
        Map<String, Cost> last = sample();
        held.execute("select 1"); // it has held all the time
        writer.finish();
        compare(first, last);
      }
    }
  }

  private void write(AtomicInteger written) {
    int from = written.get() + 1;
    outbox.insertMany("", "q", 97, from, from + ROWS - 1);
    written.addAndGet(ROWS);
  }

  /** What the relay's statements cost during a while, each by its kind. */
  private Map<String, Cost> sample() throws SQLException {
    outbox.execute("select pg_stat_statements_reset()");
    Duration all = Soak.duration();
    Soak.pass(all.compareTo(Duration.ofMinutes(1)) > 0 ? Duration.ofSeconds(30) : all.dividedBy(2));
    Map<String, Cost> costs = new LinkedHashMap<>();
    try (Connection connection = PostgresServer.connect(outbox.uri());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select query, calls, (shared_blks_hit + shared_blks_read)::float8 / calls"
                    + " from pg_stat_statements where query not like '%pg_stat_statements%'"
                    + " order by calls desc")) {
      while (row.next()) {
        String kind = kind(row.getString(1));
        costs.putIfAbsent(kind, new Cost(row.getLong(2), row.getDouble(3)));
      }
    }
    return costs;
  }

  private static String kind(String sql) {
    Map<String, String> signs = new LinkedHashMap<>();
    signs.put("pg_current_xact_id", "mark");
    signs.put("cross join unnest", "open");
    signs.put("select (select life from", "poll"); // as the two above do among other things
    signs.put("with alive as", "renew");
    signs.put("relay_instances where alive_until > now()", "standing");
    for (Map.Entry<String, String> each : signs.entrySet()) {
      if (sql.contains(each.getKey())) {
        return each.getValue();
      }
    }
    return sql.replaceAll("\\s+", " ").replaceAll("^(.{60}).*", "$1");
  }

  private static void compare(Map<String, Cost> first, Map<String, Cost> last) {
    last.forEach(
        (kind, cost) ->
            System.out.printf(
                "vacuum held: %-60s %5d calls %8.1f buffers, before %s%n",
                kind, cost.calls, cost.buffers, first.get(kind)));
    System.out.printf(
        "vacuum held: a turn costs %.1f buffers, before %.1f; %.2f statements, before %.2f%n",
        turn(last), turn(first), statements(last), statements(first));
    assertThat(turn(last)).isLessThanOrEqualTo(turn(first) * 1.2);
    assertThat(statements(last)).isLessThanOrEqualTo(statements(first) * 1.2);
  }

  /** A turn of all lanes that finds something: it polls, marks and reads. */
  private static double turn(Map<String, Cost> costs) {
    return costs.get("poll").buffers + costs.get("mark").buffers + costs.get("open").buffers;
  }

  private static double statements(Map<String, Cost> costs) {
    double polls = costs.get("poll").calls;
    return (polls + costs.get("mark").calls + costs.get("open").calls) / polls;
  }
}
