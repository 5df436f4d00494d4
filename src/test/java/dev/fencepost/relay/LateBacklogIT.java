package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A backlog that one transaction wrote beside a live relay costs what it costs when many small ones
 * wrote it: its rows lie far behind, and are found once for all lanes.
 */
class LateBacklogIT {
  private static final int SMALL = 1_000;
  private static final Duration IDLE_SESSIONS_TELL = Duration.ofSeconds(11);
  private static final Duration LONG = Duration.ofMinutes(5);

  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);
  private int backlog;

  /** What publishing the backlog took. */
  private record Cost(long blocks, long millis, int rows) {
    double perRow() {
      return (double) blocks / rows;
    }
  }

  @Test
  void aBacklogOfOneTransactionCostsWhatOneOfManyDoes() throws Exception {
    costsTheSame(200_000);
  }

  @Test
  @Tag("soak")
  void aLargeBacklogOfOneTransactionCostsWhatOneOfManyDoes() throws Exception {
    costsTheSame(1_000_000);
  }

  private void costsTheSame(int rows) throws Exception {
    backlog = rows;
    Cost many = ofManyTransactions();
    Cost one = ofOneTransaction();
    System.out.printf(
        "%d rows: %.3f blocks a row and %d ms of one transaction, %.3f and %d of many%n",
        rows, one.perRow(), one.millis(), many.perRow(), many.millis());
    assertThat(one.perRow())
        .as("blocks a row; it took %d ms, and %d ms of many", one.millis(), many.millis())
        .isLessThanOrEqualTo(many.perRow() * 1.2);
  }

  private Cost ofManyTransactions() {
    Outbox outbox = outbox();
    FakePublisher.Broker broker = counting();
    for (int from = 0; from < backlog; from += SMALL) {
      outbox.insertMany("", "q", SMALL, from + 1, from + SMALL);
    }
    long before = blocks(outbox, IDLE_SESSIONS_TELL);
    return published(process(outbox, broker), outbox, broker, before, backlog);
  }

  private static FakePublisher.Broker counting() {
    FakePublisher.Broker broker = new FakePublisher.Broker();
    broker.counting = true;
    return broker;
  }

  private Cost ofOneTransaction() throws Exception {
    Outbox outbox = outbox();
    FakePublisher.Broker broker = counting();
    RelayProcess process = process(outbox, broker);
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement()) {
      writer.setAutoCommit(false);
      // The relay sees the transaction open before its rows, and is past them all when it ends.
      statement.execute("select pg_current_xact_id()");
      beside(outbox, broker, 0);
      statement.execute(
          "insert into fencepost.outbox (type, key, payload) select 't', 'k' || n % "
              + SMALL
              + ", convert_to(n::text, 'UTF8') from generate_series(1, "
              + backlog
              + ") n");
      // What writing took is told before it is committed.
      statement.execute("prepare transaction 'late'");
    }
    beside(outbox, broker, 100);
    long before = blocks(outbox, IDLE_SESSIONS_TELL);
    outbox.execute("commit prepared 'late'");
    return published(process, outbox, broker, before, backlog + 200);
  }

  /** Small traffic in every lane. */
  private static void beside(Outbox outbox, FakePublisher.Broker broker, int already) {
    outbox.insertMany("", "q", 100, 1, 100);
    Await.until("what was written beside it", () -> broker.counted.get() == already + 100);
  }

  private Cost published(
      RelayProcess process, Outbox outbox, FakePublisher.Broker broker, long before, int rows) {
    long begun = System.nanoTime();
    Await.until("all", LONG, () -> broker.counted.get() >= rows);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    process.close();
    assertThat(broker.counted.get()).isEqualTo(rows);
    return new Cost(blocks(outbox, Duration.ofSeconds(1)) - before, millis, backlog);
  }

  private Outbox outbox() {
    Outbox outbox = new Outbox(Databases.migrated(relay));
    for (int slot = 0; slot < 8; slot++) {
      outbox.execute("alter table fencepost.outbox_" + slot + " set (autovacuum_enabled = off)");
    }
    return outbox;
  }

  /** Blocks of the outbox touched so far, once nothing has been added for a while. */
  private long blocks(Outbox outbox, Duration quiet) {
    long[] seen = {-1, 0};
    Await.until(
        "all sessions have told",
        LONG,
        () -> {
          long now =
              outbox.number(
                  "select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)"
                      + " from pg_statio_user_tables where relname ~ '^outbox_[0-7]$'");
          if (now - seen[0] > backlog / 100) { // lags are looked up all the while
            seen[0] = now;
            seen[1] = System.nanoTime();
          }
          return System.nanoTime() - seen[1] > quiet.toNanos();
        });
    return seen[0];
  }

  private RelayProcess process(Outbox outbox, FakePublisher.Broker broker) {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()), relay, vertx -> new FakePublisher(vertx, broker));
  }
}
