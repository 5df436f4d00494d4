package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rows through a real PostgreSQL to a broker that takes all. */
class RelayFlowIT {
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final FencepostConfig.Relay relay = RelayConfigs.relay(8);
  private String uri;

  @BeforeEach
  void migrate() {
    uri = Databases.migrated(relay);
  }

  private RelayProcess process() {
    return new RelayProcess(
        RelayConfigs.database(uri), relay, vertx -> new FakePublisher(vertx, broker));
  }

  @Test
  void publishesEachRowOnceInOrderPerKey() throws SQLException {
    try (Connection connection = PostgresServer.connect(uri);
        Statement statement = connection.createStatement();
        RelayProcess process = process()) {
      for (int i = 0; i < 20; i++) {
        statement.execute(
            "insert into fencepost.outbox (type, key, payload) select 't', 'k' || n % 37,"
                + " convert_to(n::text, 'UTF8') from generate_series("
                + (i * 1000 + 1)
                + ", "
                + (i + 1) * 1000
                + ") n");
      }
      Await.until("20000 rows", Duration.ofSeconds(20), () -> broker.arrived.size() >= 20_000);
      List<OutboxRow> rows = broker.rows();
      assertThat(rows).hasSize(20_000);
      Orders.assertOrderedPerKey(rows);
      assertThat(process.events.mostUnconfirmed).isLessThanOrEqualTo(1000);
    }
  }

  @Test
  void aRowWithAVeryLongKeyIsParkedLikeAnyOther() throws SQLException {
    broker.refuses = row -> row.key() == null ? null : ParkedReason.UNROUTABLE;
    Outbox outbox = new Outbox(uri);
    try (RelayProcess process = process()) {
      outbox.execute(
          "insert into fencepost.outbox (type, key, payload) select 't',"
              + " string_agg(md5(n::text), ''), '' from generate_series(1, 400) n");
      Await.until("it is parked", Duration.ofSeconds(20), () -> outbox.parked() == 1);
      broker.refuses = row -> null;
      Await.until("it is published", Duration.ofSeconds(20), () -> broker.arrived.size() == 1);
      assertThat(process.lanes()).isEqualTo(8);
    }
  }
}
