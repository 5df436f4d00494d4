package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ring, R19: published rows go in time, others stay, and nobody waits for it. */
class RetentionIT {
  private static final Duration RETENTION = Duration.ofSeconds(6); // slots of a second

  private Outbox outbox;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() throws Exception {
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  private FencepostConfig.Relay laid(int lanes) {
    FencepostConfig.Relay relay = RelayConfigs.relay(lanes);
    FencepostConfig.Relay settings =
        new FencepostConfig.Relay(
            true,
            lanes,
            relay.ordering(),
            relay.paging(),
            relay.lease(),
            RETENTION,
            relay.limits());
    outbox = new Outbox(Databases.migrated(settings));
    return settings;
  }

  /** R19. Not even while a session that reads all of the outbox, as a dump does, is in its way. */
  @Test
  void theRingIsEmptiedAndNoInsertWaitsForIt() throws Exception {
    FencepostConfig.Relay settings = laid(8);
    List<Long> nanos = new ArrayList<>();
    try (RelayProcess process = RelayProcess.onRabbit(outbox.uri(), vhost, settings);
        Connection connection = PostgresServer.connect(outbox.uri());
        Connection dump = PostgresServer.connect(outbox.uri());
        Statement reading = dump.createStatement();
        Statement statement = connection.createStatement()) {
      Await.until("lanes", () -> process.lanes() == 8);
      reading.execute("set idle_in_transaction_session_timeout = '6s'"); // then it is ended
      dump.setAutoCommit(false);
      boolean dumping = false;
      long begun = System.nanoTime();
      int rows = 0;
      while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20)) {
        long before = System.nanoTime();
        statement.execute(
            "insert into fencepost.outbox (routing_key, type, payload) values ('q', 't', '"
                + rows++
                + "')");
        nanos.add(System.nanoTime() - before);
        if (!dumping && System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(9)) {
          dumping = reading.execute("select seq from fencepost.outbox limit 1");
        }
        TimeUnit.MILLISECONDS.sleep(5);
      }
      arrivals.await(rows, Duration.ofSeconds(30));
      long kept = outbox.number("select count(*) from fencepost.outbox");
      assertThat(kept).as("rows of 20 s at a retention of 6 s").isLessThan(rows * 3L / 4);
      assertThat(
              outbox.number(
                  "select count(*) from fencepost.outbox"
                      + " where created_at > now() - interval '6 seconds'"))
          .as("none younger than the retention was dropped")
          .isGreaterThan(rows / 5);
      assertThat(Duration.ofNanos(Collections.max(nanos))).isLessThan(Duration.ofMillis(500));
      long checkpoints = outbox.number("select count(*) from fencepost.relay_checkpoints");
      assertThat(checkpoints).as("checkpoints are pruned").isLessThan(8 * 150);
    }
  }

  /** In a slot of its own, which nobody holds: it is kept because it is not published. */
  @Test
  void theRingKeepsWhatIsNotPublished() throws Exception {
    FencepostConfig.Relay settings = laid(1);
    try (TcpProxy proxy = TcpProxy.to(vhost)) {
      proxy.refuse();
      outbox.insert("", "q", null, "waiting");
      try (RelayProcess process = RelayProcess.onRabbit(outbox.uri(), proxy.uri(vhost), settings)) {
        Soak.pass(RETENTION.multipliedBy(2));
        assertThat(outbox.strings("select convert_from(payload, 'UTF8') from fencepost.outbox"))
            .containsExactly("waiting");
        proxy.accept();
        arrivals.await(1, Duration.ofSeconds(30));
        Await.until(
            "it goes once it is published",
            () -> outbox.strings("select seq from fencepost.outbox").isEmpty());
        assertThat(process.lanes()).isEqualTo(1);
      }
    }
  }

  @Test
  void theRingKeepsWhatIsNotCommitted() throws Exception {
    FencepostConfig.Relay settings = laid(1);
    try (Connection open = PostgresServer.connect(outbox.uri());
        Statement late = open.createStatement();
        RelayProcess process = RelayProcess.onRabbit(outbox.uri(), vhost, settings)) {
      Await.until("the lane", () -> process.lanes() == 1);
      open.setAutoCommit(false);
      late.execute(
          "insert into fencepost.outbox (routing_key, type, payload) values ('q', 't', 'late')");
      outbox.insert("", "q", null, "early");
      arrivals.await(1, Duration.ofSeconds(30));
      Soak.pass(RETENTION.multipliedBy(2));
      open.commit();
      arrivals.await(2, Duration.ofSeconds(30));
      assertThat(arrivals.texts()).containsExactly("early", "late");
    }
  }
}
