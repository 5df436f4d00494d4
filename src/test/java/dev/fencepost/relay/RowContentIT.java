package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is read of a row besides its body. */
class RowContentIT {
  private static final int ROWS = 200;
  private static final int WINDOW_BYTES = 64 << 10;

  private final FencepostConfig.Relay relay =
      RelayConfigs.with(
          RelayConfigs.relay(1),
          new FencepostConfig.Relay.Paging(
              500, 1000, WINDOW_BYTES, Duration.ofMillis(2), Duration.ofMillis(250)));
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private Outbox outbox;

  @BeforeEach
  void migrate() {
    outbox = new Outbox(Databases.migrated(relay));
  }

  private RelayProcess process() {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()), relay, vertx -> new FakePublisher(vertx, broker));
  }

  /** Small bodies with large headers take as much memory as large bodies. */
  @Test
  void headersCountTowardsTheWindowAndCutNoRowOff() {
    outbox.execute(
        "insert into fencepost.outbox (type, payload, headers)"
            + " select 't', 'x', jsonb_build_object('ü', repeat('ü', 10000))"
            + " from generate_series(1, "
            + ROWS
            + ")");
    broker.silent = true;
    RelayProcess silent = process();
    Await.until("the first", () -> !broker.arrived.isEmpty());
    long[] seen = {0, 0};
    Await.until(
        "no more come",
        () -> {
          if (broker.arrived.size() != seen[0]) {
            seen[0] = broker.arrived.size();
            seen[1] = System.nanoTime();
          }
          return System.nanoTime() - seen[1] > TimeUnit.SECONDS.toNanos(1);
        });
    silent.kill();
    assertThat(broker.rows().stream().mapToLong(row -> row.message().headers().length()).sum())
        .as("in memory: the window, and a page that began within it")
        .isLessThanOrEqualTo(2 * WINDOW_BYTES + 20_000);

    broker.silent = false;
    broker.arrived.clear();
    try (RelayProcess process = process()) {
      Await.until("all rows", () -> broker.arrived.size() >= ROWS);
      assertThat(process.lanes()).isEqualTo(1);
    }
    assertThat(broker.rows()).extracting(OutboxRow::seq).doesNotHaveDuplicates().hasSize(ROWS);
  }

  @Test
  void aRowTellsWhenItWasWritten() {
    broker.refuses = row -> "parked".equals(row.key()) ? ParkedReason.REJECTED : null;
    outbox.execute(
        "insert into fencepost.outbox (type, key, payload, created_at) values"
            + " ('t', 'plain', 'x', '2024-02-03 04:05:06.9+00'),"
            + " ('t', 'parked', 'x', '2024-02-03 04:05:07+00'),"
            + " ('t', 'never', 'x', 'infinity')");
    try (RelayProcess process = process()) {
      Await.until("one is parked", () -> outbox.parked() == 1);
      broker.refuses = row -> null;
      Await.until("all rows", () -> broker.arrived.size() == 3);
      assertThat(process.lanes()).isEqualTo(1);
    }
    assertThat(written("plain")).containsExactly(Instant.parse("2024-02-03T04:05:06Z"));
    assertThat(written("parked")).containsExactly(Instant.parse("2024-02-03T04:05:07Z"));
    assertThat(written("never")).containsOnlyNulls();
  }

  private List<Instant> written(String key) {
    return broker.rows().stream()
        .filter(row -> key.equals(row.key()))
        .map(row -> row.message().written())
        .toList();
  }
}
