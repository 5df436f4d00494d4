package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Why a lane lags, as people are told. */
class LagCauseIT {
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final FencepostConfig.Relay relay = RelayConfigs.relay(2);
  private Outbox outbox;

  @BeforeEach
  void migrate() {
    outbox = new Outbox(Databases.migrated(relay));
  }

  private RelayProcess process() {
    return new RelayProcess(
        RelayConfigs.database(outbox.uri()), relay, vertx -> new FakePublisher(vertx, broker));
  }

  private void awaitCause(String cause) {
    Await.asserted(
        cause,
        Duration.ofSeconds(15),
        () ->
            assertThat(outbox.strings("select distinct lag_cause from fencepost.relay_lanes"))
                .containsExactly(cause));
  }

  @Test
  void anOpenTransactionIsNamedWithItsSessionAndItsAge() throws Exception {
    try (Connection writer = PostgresServer.connect(outbox.uri());
        Statement statement = writer.createStatement();
        Connection idler = PostgresServer.connect(outbox.uri());
        Statement idle = idler.createStatement();
        RelayProcess process = process()) {
      Await.until("lanes", () -> process.lanes() == 2);
      idler.setAutoCommit(false);
      idle.execute("select pg_current_xact_id()"); // open longer, but without rows for anybody
      writer.setAutoCommit(false);
      statement.execute("insert into fencepost.outbox (type, payload) values ('t', 'late')");
      int pid;
      try (ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
        row.next();
        pid = row.getInt(1);
      }
      outbox.insertMany("", "q", 10, 1, 100);
      Await.until("the others", () -> broker.arrived.size() == 100);
      awaitCause("transaction_invisible");
      assertThat(outbox.strings("select distinct lag_detail from fencepost.relay_lanes"))
          .allMatch(detail -> detail.matches("pid=" + pid + " transaction=\\d+ age=\\d+s"));
      Await.until(
          "an age",
          () ->
              outbox.number(
                      "select extract(epoch from min(now() - oldest_unpublished_at))::int"
                          + " from fencepost.relay_lanes")
                  >= 2);
      assertThat(process.events.causes).containsValue(LagCause.TRANSACTION_INVISIBLE);
      writer.commit();
      Await.until("the late row", () -> broker.arrived.size() == 101);
      awaitCause("none");
      assertThat(outbox.strings("select oldest_unpublished_at from fencepost.relay_lanes"))
          .containsOnlyNulls();
    }
  }

  @Test
  void aPreparedTransactionIsNamedToo() throws Exception {
    try (PostgresServer server =
        PostgresServer.start(java.util.Map.of("max_prepared_transactions", "2"))) {
      outbox = new Outbox(server.newDatabase());
      Databases.migrate(outbox.uri(), relay);
      try (Connection writer = PostgresServer.connect(outbox.uri());
          Statement statement = writer.createStatement();
          RelayProcess process = process()) {
        Await.until("lanes", () -> process.lanes() == 2);
        writer.setAutoCommit(false);
        statement.execute("insert into fencepost.outbox (type, payload) values ('t', 'late')");
        statement.execute("prepare transaction 'undecided'");
        writer.setAutoCommit(true);
        outbox.insertMany("", "q", 10, 1, 100);
        awaitCause("transaction_invisible");
        assertThat(outbox.strings("select lag_detail from fencepost.relay_lanes"))
            .allMatch(detail -> detail.startsWith("prepared transaction "));
        statement.execute("commit prepared 'undecided'");
        Await.until("the late row", () -> broker.arrived.size() == 101);
        awaitCause("none");
      }
    }
  }

  @Test
  void parkedRowsHaveAnAgeToo() {
    broker.refuses = row -> "bad".equals(row.key()) ? ParkedReason.REJECTED : null;
    outbox.insert("", "q", "bad", "1");
    try (RelayProcess process = process()) {
      String lane = outbox.strings("select lane from fencepost.outbox").get(0);
      Await.asserted(
          "the parked row's lane and age",
          Duration.ofSeconds(15),
          () ->
              assertThat(
                      outbox.strings(
                          "select lane from fencepost.relay_lanes where lag_cause = 'key_parked'"
                              + " and oldest_unpublished_at ="
                              + " (select min(created_at) from fencepost.outbox)"))
                  .containsExactly(lane));
      broker.refuses = row -> null;
      awaitCause("none");
      assertThat(process.events.causes).containsValue(LagCause.NONE);
    }
  }
}
