package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.pg.PgDatabase;
import dev.fencepost.pg.PgParkedRows;
import dev.fencepost.testing.Await;
import io.vertx.core.Vertx;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is read of parked rows at once is bounded by what it takes in memory. */
class ParkedPageIT {
  private final Outbox outbox = new Outbox(Databases.migrated(RelayConfigs.relay(1)));

  @Test
  void headersAndPropertiesCountAsBodiesDo() {
    park("jsonb_build_object('h', repeat('x', 100000))", "'{}'", 1);
    park("'{}'", "jsonb_build_object('app_id', repeat('x', 100000))", 51);

    assertThat(due(1_000_000)).hasSize(10);
    assertThat(due(1)).as("the first is always whole").hasSize(1);
    outbox.execute("delete from fencepost.parked_rows where seq <= 50");
    assertThat(due(1_000_000)).hasSize(10);
  }

  /** Where more fall due than can be tried, none waits for ever behind those that were first. */
  @Test
  void whatHasWaitedLongestIsReadFirst() {
    park("'{}'", "'{}'", 1);
    park("'{}'", "'{}'", 51);
    outbox.execute(
        "update fencepost.parked_rows set next_attempt_at = now() - interval '1 hour'"
            + " where seq > 80",
        "insert into fencepost.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type,"
            + " key, payload, content_type, headers, properties, created_at, reason)"
            + " select lane, 1000 + seq, tx, event_id, exchange, routing_key, type, key, payload,"
            + " content_type, headers, properties, created_at, 'behind_key'"
            + " from fencepost.parked_rows where seq > 80");

    List<Long> first = due(40, 1 << 20).stream().map(each -> each.row().seq()).toList();
    assertThat(first)
        .hasSize(40)
        .allMatch(seq -> seq > 80)
        .containsSequence(81L, 82L)
        .containsSubsequence(81L, 1081L);
  }

  private void park(String headers, String properties, int first) {
    outbox.execute(
        "insert into fencepost.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type,"
            + " key, payload, content_type, headers, properties, created_at, reason,"
            + " next_attempt_at) select 0, n, 1, 'e' || n, '', 'q', 't', 'k' || n, '', 'text/plain', "
            + headers
            + ", "
            + properties
            + ", now(), 'unroutable', now() from generate_series("
            + first
            + ", "
            + (first + 49)
            + ") n");
  }

  private List<ParkedRows.Due> due(long bytes) {
    return due(200, bytes);
  }

  private List<ParkedRows.Due> due(int rows, long bytes) {
    Vertx vertx = Vertx.vertx();
    PgDatabase database = PgDatabase.open(vertx, RelayConfigs.database(outbox.uri()), "test");
    try {
      return Await.result(new PgParkedRows(database).due(0, new OutboxStore.Limit(rows, bytes)));
    } finally {
      Await.result(database.close());
      Await.result(vertx.close());
    }
  }
}
