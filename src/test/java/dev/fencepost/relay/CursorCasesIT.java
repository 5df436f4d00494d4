package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PgBouncer;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What order and lateness do to an outbox: R07, R08, R10; and the two orderings. */
class CursorCasesIT {
  private final FakePublisher.Broker silent = new FakePublisher.Broker();
  private final FencepostConfig.Relay relay = RelayConfigs.relay(1);
  private Outbox outbox;
  private String vhost;
  private Arrivals arrivals;

  @BeforeEach
  void start() throws Exception {
    outbox = new Outbox(Databases.migrated(relay));
    vhost = TestServers.broker().newVhost();
    arrivals = Arrivals.of(vhost, "q");
  }

  @AfterEach
  void stop() {
    arrivals.close();
  }

  private RelayProcess process() {
    return process(outbox.uri());
  }

  private RelayProcess process(String database) {
    return RelayProcess.onRabbit(database, vhost, relay);
  }

  private List<String> bodies() {
    return arrivals.texts();
  }

  private void awaitBodies(int count) {
    Await.until(count + " rows", Duration.ofSeconds(90), () -> arrivals.all.size() >= count);
    assertThat(arrivals.all).hasSize(count);
  }

  /** A broker that confirms nothing. */
  private RelayProcess unconfirmed(FencepostConfig.Relay settings) {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()), settings, vertx -> new FakePublisher(vertx, silent));
  }

  private List<String> sent() {
    return silent.rows().stream()
        .map(row -> new String(row.message().body(), StandardCharsets.UTF_8))
        .toList();
  }

  private static void insert(Statement statement, String body) throws SQLException {
    statement.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload)"
            + " values ('q', 't', 'late', '"
            + body
            + "')");
  }

  @Test
  void r07ALowerNumberThatCommitsAfterAHigherOneWasReadIsPublished() throws Exception {
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement();
        RelayProcess process = process()) {
      Await.until("the lane", () -> process.lanes() == 1);
      for (int i = 0; i < 20; i++) {
        writer.setAutoCommit(false);
        insert(statement, "lower" + i);
        outbox.insert("", "q", null, "higher" + i);
        awaitBodies(2 * i + 1);
        assertThat(bodies()).last().isEqualTo("higher" + i);
        writer.commit();
        awaitBodies(2 * i + 2);
        assertThat(bodies()).last().isEqualTo("lower" + i);
      }
    }
  }

  /**
   * Nothing else takes a transaction id meanwhile: the relay's own mark is all that makes the
   * snapshot list the writer.
   */
  @Test
  void r07ALoneWriterThatCommitsAfterABatchWasOpenedIsPublished() throws Exception {
    lateAndAlone(outbox.uri());
  }

  @Test
  void r07ALoneWriterThatCommitsLateIsPublishedBehindAPooler() throws Exception {
    assumeTrue(PgBouncer.installed(), "pgbouncer is not installed");
    try (PgBouncer pooler = PgBouncer.start(outbox.uri(), Map.of("default_pool_size", "5"))) {
      lateAndAlone(pooler.uri(outbox.uri()) + "?pgbouncer=true");
    }
  }

  /** The last transaction that ended. */
  private long ended() {
    return outbox.number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1");
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    }
  }

  private void lateAndAlone(String database) throws Exception {
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement();
        RelayProcess process = process(database)) {
      Await.until("the lane", () -> process.lanes() == 1);
      writer.setAutoCommit(false);
      for (int i = 0; i < 10; i++) {
        insert(statement, "late" + i);
        long own = number(statement, "select pg_current_xact_id()");
        Await.until(
            "the mark of the batch that its number makes the relay open", () -> ended() > own);
        writer.commit();
        awaitBodies(i + 1);
      }
    }
  }

  /** Read back by index over many batches. */
  @Test
  void r08ALongTransactionHoldsNobodyBackAndLosesNothing() throws Exception {
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement();
        RelayProcess process = process()) {
      Await.until("the lane", () -> process.lanes() == 1);
      writer.setAutoCommit(false);
      insert(statement, "first");
      for (int i = 0; i < 30; i++) {
        outbox.insert("", "q", "k", "other" + i);
        awaitBodies(i + 1);
      }
      insert(statement, "second");
      outbox.insert("", "q", "k", "other30");
      awaitBodies(31);
      writer.commit();
      awaitBodies(33);
      assertThat(bodies().subList(31, 33)).containsExactly("first", "second");
    }
  }

  /** Far behind: its rows are found by its transaction id. Another owner finds them too. */
  @Test
  void r08RowsOfATransactionThatIsFarBehindAreFoundByItsId() throws Exception {
    int others = (int) Batch.NEAR + 10_000;
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement()) {
      try (RelayProcess process = process()) {
        Await.until("the lane", () -> process.lanes() == 1);
        writer.setAutoCommit(false);
        insert(statement, "first");
        outbox.insert("", "q", "k", "0"); // the transaction is in the snapshot of this batch
        awaitBodies(1);
        outbox.insertMany("", "q", 100, 1, others);
        awaitBodies(1 + others);
        insert(statement, "second");
        outbox.insert("", "q", "k", "last");
        awaitBodies(2 + others);
      }
      try (RelayProcess process = process()) {
        Await.until("the lane", () -> process.lanes() == 1);
        writer.commit();
        awaitBodies(4 + others);
        assertThat(bodies().subList(2 + others, 4 + others)).containsExactly("first", "second");
      }
    }
  }

  @Test
  void r10OrderIsThatOfTheSequenceWhateverTheClocksSay() {
    outbox.execute(
        "insert into fencepost.outbox (routing_key, type, key, payload, created_at)"
            + " select 'q', 't', 'k',"
            + " convert_to(n::text, 'UTF8'), now() - n * interval '1 hour'"
            + " from generate_series(1, 20) n");
    try (RelayProcess process = process()) {
      awaitBodies(20);
      assertThat(bodies())
          .isEqualTo(IntStream.rangeClosed(1, 20).mapToObj(Integer::toString).toList());
      assertThat(process.lanes()).isEqualTo(1);
    }
  }

  /** One row of a key is out at a time; the weaker mode sends on without waiting. */
  @Test
  void theTwoOrderings() {
    silent.silent = true;
    outbox.insertMany("", "q", 1, 1, 200);
    RelayProcess ordered = unconfirmed(relay);
    try {
      Await.until("the first", () -> silent.arrived.size() == 1);
      outbox.insert("", "q", "other", "201");
      Await.until("the next key", () -> silent.arrived.size() == 2);
      assertThat(sent()).containsExactly("1", "201");
    } finally {
      ordered.kill();
    }
    silent.arrived.clear();
    try (RelayProcess pipelined = unconfirmed(RelayConfigs.pipelined(relay))) {
      Await.until("all, none of them confirmed", () -> silent.arrived.size() == 201);
      assertThat(sent())
          .isEqualTo(IntStream.rangeClosed(1, 201).mapToObj(Integer::toString).toList());
      assertThat(pipelined.events.mostUnconfirmed).isEqualTo(201);
    }
  }
}
