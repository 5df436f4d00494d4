package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The database is restarted, crashes, stands still or fails over: R24. */
class DatabaseOutageIT {
  private final FencepostConfig.Relay relay = RelayConfigs.relay(4);
  private PostgresServer server;
  private Outbox outbox;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() throws Exception {
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
    server = PostgresServer.start();
    outbox = new Outbox(server.newDatabase());
    Databases.migrate(outbox.uri(), relay);
  }

  @AfterEach
  void stop() {
    arrivals.close();
    server.close();
  }

  private RelayProcess process(String... uris) {
    return new RelayProcess(
        RelayConfigs.database(uris),
        relay,
        vertx -> new RabbitBroker(vertx, RelayConfigs.broker(vhost)).publisher(relay.limits()));
  }

  private void awaitRows(int rows) {
    arrivals.await(rows, Duration.ofSeconds(40));
    int[] last = new int[10];
    Set<String> seen = new HashSet<>();
    for (String body : arrivals.texts()) {
      int n = Integer.parseInt(body);
      if (seen.add(body)) {
        assertThat(n).isGreaterThan(last[n % 10]);
        last[n % 10] = n;
      }
    }
  }

  @Test
  void aRestartAndACrashAreSurvived() throws Exception {
    try (RelayProcess process = process(outbox.uri())) {
      Await.until("lanes", () -> process.lanes() == 4);
      outbox.insertMany("", "q", 10, 1, 1000);
      server.restart();
      outbox.insertMany("", "q", 10, 1001, 2000);
      awaitRows(2000);
      for (int i = 2; i < 5; i++) {
        outbox.insertMany("", "q", 10, i * 1000 + 1, (i + 1) * 1000);
        server.kill();
        server.restart();
      }
      outbox.insertMany("", "q", 10, 5001, 6000);
      awaitRows(6000);
    }
  }

  /** Longer than the lease: the owner stops by itself and goes on when the database is back. */
  @Test
  void aDatabaseThatStandsStillIsWaitedFor() throws Exception {
    try (RelayProcess process = process(outbox.uri())) {
      Await.until("lanes", () -> process.lanes() == 4);
      outbox.insertMany("", "q", 10, 1, 1000);
      awaitRows(1000);
      server.pause();
      TimeUnit.SECONDS.sleep(5);
      server.resume();
      outbox.insertMany("", "q", 10, 1001, 2000);
      awaitRows(2000);
    }
  }

  @Test
  void r24AFailoverToAPromotedReplicaIsFollowed() throws Exception {
    try (PostgresServer replica = server.startReplica()) {
      String name = outbox.uri().substring(outbox.uri().lastIndexOf('/') + 1);
      String there = replica.uri(name);
      try (RelayProcess process = process(outbox.uri(), there)) {
        Await.until("lanes", () -> process.lanes() == 4);
        outbox.insertMany("", "q", 10, 1, 1000);
        awaitRows(1000);
        Outbox second = new Outbox(there);
        Await.until(
            "replicated", () -> second.number("select count(*) from fencepost.outbox") == 1000);
        server.kill();
        replica.promote();
        second.insertMany("", "q", 10, 1001, 2000);
        awaitRows(2000);
        assertThat(process.lanes()).isEqualTo(4);
      }
    }
  }

  /** The old primary stays up and answers: it only takes nothing any more. */
  @Test
  void r24APrimaryThatBecomesReadOnlyIsLeftForThePromotedReplica() throws Exception {
    try (PostgresServer replica = server.startReplica()) {
      Outbox second =
          new Outbox(replica.uri(outbox.uri().substring(outbox.uri().lastIndexOf('/') + 1)));
      try (RelayProcess process = process(outbox.uri(), second.uri())) {
        Await.until("lanes", () -> process.lanes() == 4);
        outbox.insertMany("", "q", 10, 1, 1000);
        awaitRows(1000);
        PostgresServer.execute(
            server.uri(),
            "alter system set default_transaction_read_only = on",
            "select pg_reload_conf()");
        Await.until(
            "replicated", () -> second.number("select count(*) from fencepost.outbox") == 1000);
        replica.promote();
        second.insertMany("", "q", 10, 1001, 2000);
        awaitRows(2000);
        assertThat(process.lanes()).isEqualTo(4);
      }
    }
  }
}
