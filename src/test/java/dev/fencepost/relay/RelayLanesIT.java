package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Instances that join, leave, die and freeze. */
class RelayLanesIT {
  private static final int LANES = 8;
  private static final int WINDOW = 200;

  private final FencepostConfig.Relay relay = RelayConfigs.relay(LANES);
  private String database;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() throws Exception {
    database = Databases.migrated(relay);
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  @Test
  void instancesShareEvenlyAndHandOverDrained() throws Exception {
    try (Writers writers = new Writers(database, "q", 200)) {
      writers.start(4, 7);
      RelayProcess first = RelayProcess.onRabbit(database, vhost, relay);
      Await.until("all lanes", () -> first.lanes() == LANES);
      RelayProcess second = RelayProcess.onRabbit(database, vhost, relay);
      RelayProcess third = RelayProcess.onRabbit(database, vhost, relay);
      Await.until(
          "3, 3 and 2 lanes",
          Duration.ofSeconds(15),
          () ->
              java.util.stream.IntStream.of(first.lanes(), second.lanes(), third.lanes())
                  .sorted()
                  .boxed()
                  .toList()
                  .equals(List.of(2, 3, 3)));
      first.close();
      Await.until(
          "4 and 4 lanes", Duration.ofSeconds(10), () -> second.lanes() == 4 && third.lanes() == 4);
      third.close();
      Await.until("all lanes again", () -> second.lanes() == LANES);
      writers.finish();
      arrivals.await(ids().size(), Duration.ofSeconds(20));
      assertThat(arrivals.all).as("a drained hand-over repeats nothing").hasSize(ids().size());
      Writers.assertOrdered(arrivals.texts());
      second.close();
    }
  }

  /** R15. */
  @Test
  void aKilledOwnersLanesAreTakenWithinTheLeaseAndAPoll() throws Exception {
    try (RelayProcess survivor = RelayProcess.onRabbit(database, vhost, relay)) {
      RelayJvm victim = RelayJvm.start(database, vhost, LANES, WINDOW);
      Await.until("half the lanes", () -> survivor.lanes() == LANES / 2);
      Await.until("the other half", () -> owners().size() == 2);
      victim.kill();
      long killed = System.nanoTime();
      Await.until("all lanes", () -> survivor.lanes() == LANES);
      Duration took = Duration.ofNanos(System.nanoTime() - killed);
      assertThat(took).as("not a second lease").isLessThan(relay.lease().ttl().multipliedBy(2));
    }
  }

  /** R14: it stops by its own deadline, and what it still appends is refused. */
  @Test
  void aFrozenOwnerComesBackAndChangesNothing() throws Exception {
    try (Writers writers = new Writers(database, "q", 50);
        RelayJvm frozen = RelayJvm.start(database, vhost, LANES, WINDOW)) {
      writers.start(4, 11);
      Await.until("its lanes", () -> owners().size() == 1);
      Await.until("its first messages", () -> arrivals.all.size() > 100);
      try (RelayProcess other = RelayProcess.onRabbit(database, vhost, relay)) {
        Await.until("half the lanes", () -> other.lanes() == LANES / 2);
        frozen.freeze();
        Await.until("all lanes", () -> other.lanes() == LANES);
        int before = arrivals.all.size();
        Await.until("the other one publishes", () -> arrivals.all.size() > before + 100);
        frozen.thaw();
        Await.until("they share again", () -> other.lanes() == LANES / 2);
        writers.finish();
        arrivals.await(ids().size(), Duration.ofSeconds(20));
        Writers.assertOrdered(arrivals.texts());
        int repeated = arrivals.all.size() - ids().size();
        assertThat(repeated).as("repeated").isLessThanOrEqualTo(LANES * WINDOW);
      }
    }
  }

  /** R14: with no word from the database it stops by its own clock. What it holds stays unsent. */
  @Test
  void aFrozenOwnerThatReachesNoDatabaseSendsNothingMore() throws Exception {
    int rows = 40_000;
    int keys = 64; // one row of each may be on its way
    try (TcpProxy proxy = TcpProxy.to(database);
        RelayJvm frozen = RelayJvm.start(proxy.uri(database), vhost, LANES, WINDOW)) {
      Await.until("its lanes", () -> owners().size() == 1);
      new Outbox(database).insertMany("", "q", keys, 1, rows);
      Await.until("it publishes", () -> arrivals.all.size() > 1000);
      frozen.freeze();
      proxy.freeze();
      assertThat(arrivals.all.size()).as("it was in the middle").isLessThan(rows - 5000);
      try (RelayProcess other = RelayProcess.onRabbit(database, vhost, relay)) {
        Await.until("all lanes", () -> other.lanes() == LANES);
        arrivals.await(rows, Duration.ofSeconds(60));
        int before = arrivals.all.size();
        int accepted = proxy.accepted();
        frozen.thaw();
        Await.until("it looks for the database", () -> proxy.accepted() > accepted);
        assertThat(arrivals.all.size() - before)
            .as("sent after its lease had run out")
            .isLessThanOrEqualTo(keys);
        proxy.thaw();
        Await.until("they share again", () -> other.lanes() == LANES / 2);
      }
    }
  }

  /** Killed again and again: nothing is missing, and repeated is no more than the windows held. */
  @Test
  void killedAgainAndAgainRepeatsNoMoreThanItsWindows() throws Exception {
    int kills = 5;
    try (Writers writers = new Writers(database, "q", 200)) {
      writers.start(8, 13);
      for (int i = 0; i < kills; i++) {
        RelayJvm jvm = RelayJvm.start(database, vhost, LANES, WINDOW);
        int before = arrivals.distinct();
        Await.until("progress", () -> arrivals.distinct() > before + 200);
        TimeUnit.MILLISECONDS.sleep(100L * i);
        jvm.kill();
      }
      writers.finish();
      try (RelayProcess last = RelayProcess.onRabbit(database, vhost, relay)) {
        arrivals.await(ids().size(), Duration.ofSeconds(30));
        Writers.assertOrdered(arrivals.texts());
        int repeated = arrivals.all.size() - ids().size();
        assertThat(repeated).as("repeated").isLessThanOrEqualTo(kills * LANES * WINDOW);
      }
    }
  }

  private List<String> owners() {
    return strings("select distinct owner from fencepost.relay_lanes where owner is not null");
  }

  /** Of everything that was committed. */
  private Set<String> ids() {
    return new HashSet<>(strings("select event_id from fencepost.outbox"));
  }

  private List<String> strings(String sql) {
    List<String> strings = new java.util.ArrayList<>();
    try (Connection connection = PostgresServer.connect(database);
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        strings.add(result.getString(1));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return strings;
  }
}
