package dev.fencepost.pg;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewRequest.Decision;
import dev.fencepost.operations.Who;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Vertx;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

/** A database of the version before, with rows in every state, goes on as if nothing had been. */
class PlainMarksMigrationIT {
  private static final String ME = "host-1-aaaa";
  private static final String ROWS =
      "select to_jsonb(a)::text from fencepost.activity a order by consumer, event_id";
  private static final Claim.Work WORK =
      new Claim.Work("t", ActivityKind.IDEMPOTENT, 4, 3, Duration.ofSeconds(30));

  private final String uri = TestServers.postgres().newDatabase();

  @Test
  void rowsOfEveryStateAreKeptAndGoOn() {
    before();
    rows("case when true then null end", "plain");
    rows("'k-' || state", "keyed");
    PostgresServer.execute(
        uri,
        "insert into fencepost.claim_batch select distinct consumer, batch, 'old', now() from"
            + " fencepost.activity where batch is not null",
        "insert into fencepost.dead_letter (consumer, event_id, generation, type, reason, attempts,"
            + " body) select consumer, event_id, 1, type, 'permanent_failure', 1, 'x' from"
            + " fencepost.activity where state = 'dead'");
    List<String> before = texts(ROWS);
    assertThat(before).hasSize(14);
    assertThat(pending())
        .contains("V7__plain_marks.sql")
        .contains("alter column waits drop expression")
        .doesNotContain("V6__");
    try (WorkerSchema schema = WorkerSchema.migrated(uri)) {
      assertThat(texts(ROWS)).isEqualTo(before);
      PostgresServer.execute(
          uri,
          "alter table fencepost.activity validate constraint activity_waits",
          "alter table fencepost.activity validate constraint activity_live_key");
      goOn(schema, "plain");
      goOn(schema, "keyed");
      assertThat(texts("select event_id from fencepost.activity where state <> 'completed'"))
          .isEmpty();
      assertThat(
              texts(
                  "select event_id from fencepost.activity where coalesce(live_key, waits) <> ''"))
          .isEmpty();
    }
  }

  private void goOn(WorkerSchema schema, String consumer) {
    ActivityStore store = schema.store();
    for (Evidence expired : result(store.expired(consumer, null, 10))) {
      assertThat(result(store.recover(ME, expired, RecoveryDecision.RECORD_COMPLETION, message())))
          .isTrue();
    }
    assertThat(result(store.resolveTypes(consumer, List.of("t"), Duration.ofDays(30), 10)))
        .isEqualTo(1);
    result(
        new PgReviewStore(schema.database())
            .resolve(
                new ReviewRequest(
                    consumer, "manual_review", Decision.RETRY, "ann", "I asked", null)));
    long letter =
        Long.parseLong(
            texts("select id from fencepost.dead_letter where consumer = '" + consumer + "'")
                .get(0));
    assertThat(
            result(
                    new PgDeadLetterChanges(schema.database())
                        .redrive(List.of(letter), new Who("ann", "fixed")))
                .get(0)
                .outcome())
        .isEqualTo(Outcome.REDRIVEN);
    List<Claim.Due> due =
        result(store.claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(WORK, 10))));
    assertThat(due)
        .extracting(d -> d.ticket().id().eventId())
        .containsExactlyInAnyOrder(
            "retry_scheduled", "unresolved", "manual_review", "dead", "blocked");
    assertThat(
            result(
                store.settle(
                    ME,
                    due.stream()
                        .map(
                            d ->
                                new Settlement(
                                    d.ticket(),
                                    new Settlement.Completed(Receipt.succeeded()),
                                    null))
                        .toList())))
        .containsOnly(true);
    assertThat(
            result(
                    store.claim(
                        ME,
                        List.of(
                            new Claim.Request(
                                new ActivityId(consumer, "completed"),
                                WORK,
                                null,
                                false,
                                message()))))
                .get(0))
        .isInstanceOf(Claim.Duplicate.class);
  }

  /** The schema as the version before left it. */
  private void before() {
    URI parsed = URI.create(uri);
    String[] user = parsed.getRawUserInfo().split(":", 2);
    Flyway.configure()
        .dataSource(
            "jdbc:postgresql://" + parsed.getHost() + ":" + parsed.getPort() + parsed.getPath(),
            user[0],
            user[1])
        .schemas("fencepost")
        .createSchemas(true)
        .table("schema_history")
        .locations("classpath:db/migration")
        .placeholders(Map.of("schema", "\"fencepost\"", "lanes", "8", "slotSeconds", "14400"))
        .target("6")
        .load()
        .migrate();
  }

  private void rows(String key, String consumer) {
    PostgresServer.execute(
        uri,
        "insert into fencepost.activity (consumer, event_id, type, kind, state, attempts,"
            + " max_retries, max_attempts, fence, batch, owner, lease_until, next_attempt_at,"
            + " finished_at, attempt_fence, started_at, ordering_key, arrival, exchange,"
            + " routing_key, headers, properties, body)"
            + " select '"
            + consumer
            + "', state, 't', 'idempotent', state, 1, 3, 4, 1,"
            + " case when state in ('running', 'completed') then 77 end, 'old',"
            + " case when state = 'running' then now() end,"
            + " case when state = 'retry_scheduled' then now() end,"
            + " case when state in ('completed', 'dead') then now() end, 1, now(), "
            + key
            + ", nextval('fencepost.activity_arrival'), 'x', 'k', '{}', '{}', case when state in"
            + " ('completed', 'dead') then null else 'x'::bytea end"
            + " from unnest(array['running', 'retry_scheduled', 'blocked', 'completed', 'dead',"
            + " 'manual_review', 'unresolved']) state");
  }

  private String pending() {
    Vertx vertx = Vertx.vertx();
    try {
      FencepostConfig config = ConfigLoader.parse("database: {uris: [\"" + uri + "\"]}", Map.of());
      return result(new Migrations(vertx, config).pending());
    } finally {
      result(vertx.close());
    }
  }

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }

  private List<String> texts(String sql) {
    List<String> texts = new ArrayList<>();
    try (Connection connection = PostgresServer.connect(uri);
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return texts;
  }
}
