package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scheduled rows, the doorbell, and what an idle relay costs. */
class RelayUpkeepIT {
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);

  private RelayProcess process(String uri, FencepostConfig.Relay settings) {
    return new RelayProcess(
        RelayConfigs.database(uri), settings, vertx -> new FakePublisher(vertx, broker));
  }

  private List<String> bodies() {
    return broker.rows().stream()
        .map((OutboxRow row) -> new String(row.message().body(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void scheduledRowsComeWhenTheyAreDueAndInTheirOrder() {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    try (RelayProcess process = process(outbox.uri(), relay)) {
      Await.until("lanes", () -> process.lanes() == 8);
      long before = System.nanoTime();
      for (int i = 3; i >= 1; i--) {
        outbox.strings(
            "select fencepost.publish(exchange => '', routing_key => 'q', type => 't', key => 'k',"
                + " payload => '"
                + i
                + "', deliver_at => clock_timestamp() + interval '"
                + i * 500
                + " ms')");
      }
      Await.until("all", () -> broker.arrived.size() == 3);
      assertThat(Duration.ofNanos(System.nanoTime() - before))
          .isBetween(Duration.ofMillis(1500), Duration.ofMillis(5000));
      assertThat(bodies()).containsExactly("1", "2", "3");
      assertThat(outbox.strings("select id from fencepost.scheduled")).isEmpty();
    }
  }

  /** One that the outbox refused later would hold up all that are due after it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "headers => '[1]', deliver_at => now() + interval '1 hour'",
        "properties => '[1]', deliver_at => now() + interval '1 hour'",
        "deliver_at => 'infinity'"
      })
  void whatTheOutboxCouldNotTakeIsNotScheduled(String arguments) {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    assertThatThrownBy(
            () ->
                outbox.strings(
                    "select fencepost.publish(exchange => '', routing_key => 'q', type => 't',"
                        + " payload => '1', "
                        + arguments
                        + ")"))
        .hasStackTraceContaining("check constraint");
  }

  /** Without the bell it would be a second on average. */
  @Test
  void aSleepingRelayIsRung() throws Exception {
    FencepostConfig.Relay sleepy =
        RelayConfigs.with(
            relay,
            new FencepostConfig.Relay.Paging(
                500, 1000, 16 << 20, Duration.ofMillis(2), Duration.ofSeconds(2)));
    try (PostgresServer server = PostgresServer.start(Map.of("max_prepared_transactions", "0"))) {
      Outbox outbox = new Outbox(server.newDatabase());
      Databases.migrate(outbox.uri(), sleepy);
      try (RelayProcess process = process(outbox.uri(), sleepy);
          Connection connection = PostgresServer.connect(outbox.uri());
          Statement statement = connection.createStatement()) {
        Await.until("lanes", () -> process.lanes() == 8);
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
          TimeUnit.MILLISECONDS.sleep(500);
          long before = System.nanoTime();
          statement.execute("insert into fencepost.outbox (type, payload) values ('t', '')");
          int expected = i + 1;
          Await.until("arrived", () -> broker.arrived.size() == expected);
          millis.add((System.nanoTime() - before) / 1_000_000);
        }
        Collections.sort(millis);
        assertThat(millis.get(4)).as("median of %s", millis).isLessThan(200);
      }
    }
  }

  @Test
  void anIdleRelayCostsFewStatementsAndNoTransactionIds() throws Exception {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    try (RelayProcess process = process(outbox.uri(), relay)) {
      Await.until("lanes", () -> process.lanes() == 8);
      outbox.insertMany("", "q", 8, 1, 100);
      Await.until("published", () -> broker.arrived.size() == 100);
      TimeUnit.SECONDS.sleep(12); // idle connections report what they did 10 s late
      String commits =
          "select xact_commit + xact_rollback from pg_stat_database"
              + " where datname = current_database()";
      String checkpoints = "select max(n) from fencepost.relay_checkpoints";
      long before = outbox.number(commits);
      long checkpoint = outbox.number(checkpoints);
      TimeUnit.SECONDS.sleep(10);
      assertThat((outbox.number(commits) - before) / 10.0)
          .as("statements a second, with renewals each 900 ms")
          .isLessThan(10);
      assertThat(outbox.number(checkpoints)).isEqualTo(checkpoint);
    }
  }
}
