package dev.fencepost.relay;

import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Applications that write events in every awkward way: shared keys under row locks, transaction ids
 * taken early, savepoints rolled back and released, rollbacks, two-phase commits, long
 * transactions, many rows at once. Bodies are {@code key:version}, the version counted under the
 * key's lock.
 */
final class Writers implements AutoCloseable {
  private static final int KEYS = 20;
  private static final AtomicLong PREPARED = new AtomicLong();

  private final String uri;
  private final String routingKey;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> running = new ArrayList<>();
  private final AtomicBoolean stop = new AtomicBoolean();
  private final int longestMillis;

  /** Bodies whose transactions committed. */
  final Set<String> committed = ConcurrentHashMap.newKeySet();

  Writers(String uri, String routingKey, int longestMillis) {
    this.uri = uri;
    this.routingKey = routingKey;
    this.longestMillis = longestMillis;
    PostgresServer.execute(
        uri,
        "create table aggregate (key text primary key, version bigint not null default 0)",
        "insert into aggregate (key) select 'k' || n from generate_series(1, " + KEYS + ") n");
  }

  void start(int writers, long seed) {
    for (int i = 0; i < writers; i++) {
      Random random = new Random(seed * 1000 + i);
      running.add(threads.submit(() -> write(random)));
    }
  }

  /** Ends them after what they are at; fails if one failed. */
  void finish() throws Exception {
    stop.set(true);
    for (Future<?> each : running) {
      each.get(60, TimeUnit.SECONDS);
    }
  }

  private Void write(Random random) throws Exception {
    try (Connection connection = PostgresServer.connect(uri)) {
      connection.setAutoCommit(false);
      while (!stop.get()) {
        List<String> bodies = new ArrayList<>();
        try {
          transaction(connection, random, bodies);
        } catch (SQLException e) {
          if (!Set.of("40P01", "55P03").contains(String.valueOf(e.getSQLState()))) {
            throw e;
          }
          connection.rollback();
        }
      }
    }
    return null;
  }

  private void transaction(Connection connection, Random random, List<String> bodies)
      throws Exception {
    if (random.nextInt(3) == 0) {
      query(connection, "select pg_current_xact_id()");
      pause(random, 20);
    }
    int keys = 1 + random.nextInt(2);
    List<String> chosen =
        random.ints(keys, 1, KEYS + 1).distinct().sorted().mapToObj(n -> "k" + n).toList();
    for (String key : chosen) {
      rows(connection, random, key, bodies);
    }
    if (random.nextInt(4) == 0) {
      insert(connection, null, "free:" + random.nextLong(), bodies);
    }
    if (random.nextInt(50) == 0) {
      pause(random, longestMillis);
    }
    finish(connection, random, bodies);
  }

  private void rows(Connection connection, Random random, String key, List<String> bodies)
      throws SQLException, InterruptedException {
    long version =
        query(connection, "select version from aggregate where key = '" + key + "' for update");
    pause(random, 3);
    int rows = random.nextInt(10) == 0 ? 20 : 1 + random.nextInt(3);
    for (int i = 0; i < rows; i++) {
      if (random.nextInt(8) == 0) {
        Savepoint savepoint = connection.setSavepoint();
        List<String> undone = new ArrayList<>();
        insert(connection, key, key + ":undone", undone);
        connection.rollback(savepoint);
      }
      Savepoint released = random.nextInt(8) == 0 ? connection.setSavepoint() : null;
      insert(connection, key, key + ":" + ++version, bodies);
      if (released != null) {
        connection.releaseSavepoint(released);
      }
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute("update aggregate set version = " + version + " where key = '" + key + "'");
    }
  }

  private void finish(Connection connection, Random random, List<String> bodies)
      throws SQLException, InterruptedException {
    int end = random.nextInt(20);
    if (end < 2) {
      connection.rollback();
      return;
    }
    if (end < 5) {
      String name = "p" + PREPARED.incrementAndGet();
      try (Statement statement = connection.createStatement()) {
        statement.execute("prepare transaction '" + name + "'");
        connection.setAutoCommit(true);
        pause(random, 30);
        // Known as committed before it is: the relay may be faster than the answer.
        committed.addAll(bodies);
        statement.execute("commit prepared '" + name + "'");
        connection.setAutoCommit(false);
      }
      return;
    }
    committed.addAll(bodies);
    connection.commit();
  }

  private void insert(Connection connection, String key, String body, List<String> bodies)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "insert into fencepost.outbox (routing_key, type, key, payload)"
                + " values (?, 't', ?, convert_to(?, 'UTF8'))")) {
      statement.setString(1, routingKey);
      statement.setString(2, key);
      statement.setString(3, body);
      statement.execute();
    }
    bodies.add(body);
  }

  private static long query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    }
  }

  private static void pause(Random random, int most) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextInt(most + 1));
  }

  /** Of each key, that the first arrivals of its bodies come in the order of their versions. */
  static void assertOrdered(List<String> bodies) {
    Map<String, Long> last = new ConcurrentHashMap<>();
    Set<String> seen = ConcurrentHashMap.newKeySet();
    for (String body : bodies) {
      int colon = body.indexOf(':');
      String key = body.substring(0, colon);
      if (key.equals("free") || !seen.add(body)) {
        continue;
      }
      long version = Long.parseLong(body.substring(colon + 1));
      Long before = last.put(key, version);
      if (before != null && before + 1 != version || before == null && version != 1) {
        throw new AssertionError(key + ": " + before + " then " + version);
      }
    }
  }

  @Override
  public void close() {
    stop.set(true);
    threads.shutdownNow();
  }
}
