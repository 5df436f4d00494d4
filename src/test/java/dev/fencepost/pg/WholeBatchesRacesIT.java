package dev.fencepost.pg;

import static dev.fencepost.testing.Await.failure;
import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whole batches, while others are at their rows. */
class WholeBatchesRacesIT {
  private static final String ME = "host-1-aaaa";
  private static final String COMPLETED =
      "select count(*) from fencepost.activity where state = 'completed' and receipt_fence = 1";
  private static final Duration TTL = Duration.ofSeconds(30);

  private WorkerSchema schema;

  @BeforeEach
  void open() {
    schema = WorkerSchema.open();
  }

  @AfterEach
  void close() {
    schema.close();
  }

  /** The commit waits for a lock until no answer can come any more. */
  @Test
  void anUnknownCommitIsSaidOnceMore() throws SQLException {
    PostgresServer.execute(
        schema.uri(),
        "create function hold_commit() returns trigger language plpgsql as $$ begin"
            + " perform set_config('lock_timeout', '0', true);"
            + " perform pg_advisory_xact_lock(7); return null; end $$",
        "create constraint trigger hold after update on fencepost.activity deferrable initially"
            + " deferred for each row when (new.event_id = 'event-000' and new.state ="
            + " 'completed') execute function hold_commit()");
    try (TcpProxy proxy = TcpProxy.to(schema.uri());
        WorkerSchema cut = schema.by(proxy.uri(schema.uri()));
        Connection holder = PostgresServer.connect(schema.uri())) {
      List<Claim.Ticket> tickets = start(cut, requests(20, null, 0));
      List<Claim.Ticket> more = start(cut, requests(20, null, 20));
      List<Claim.Ticket> all = new ArrayList<>(tickets);
      all.addAll(more.subList(0, 10));
      holder.createStatement().execute("select pg_advisory_lock(7)");
      Future<List<Boolean>> settled = cut.store().settle(ME, successes(all));
      Await.until(
          "the commit waits",
          () ->
              number("select count(*) from pg_locks where locktype = 'advisory' and not granted")
                  == 1);
      proxy.freeze(TcpProxy.Direction.ANSWERS);
      holder.createStatement().execute("select pg_advisory_unlock(7)");
      Await.until("committed", () -> number(COMPLETED) == 30);
      proxy.cut();
      proxy.thaw();
      assertThat(FencepostException.is(failure(settled), FailureKind.DATABASE_UNREACHABLE))
          .isTrue();
      all.addAll(more.subList(10, 20));
      assertThat(result(cut.store().settle(ME, successes(all)))).hasSize(40).containsOnly(true);
      assertThat(number(COMPLETED)).isEqualTo(40);
      assertThat(number("select count(*) from fencepost.audit_log")).isZero();
      sweep(cut);
      assertThat(number("select count(*) from fencepost.claim_batch")).isZero();
    }
  }

  @Test
  void oneRowThatIsLockedHoldsBackNoOther() throws SQLException {
    List<Claim.Ticket> tickets = start(schema, requests(8, null, 0));
    try (Connection holder = PostgresServer.connect(schema.uri())) {
      holder.setAutoCommit(false);
      holder
          .createStatement()
          .execute("select 1 from fencepost.activity where event_id = 'event-003' for update");
      assertConflict(failure(schema.store().settle(ME, successes(tickets))));
      assertThat(number(COMPLETED)).isZero();
      assertConflict(failure(schema.store().settle(ME, successes(tickets.subList(0, 4)))));
      assertThat(result(schema.store().settle(ME, successes(tickets.subList(4, 8)))))
          .containsOnly(true);
      assertThat(number(COMPLETED)).isEqualTo(4);
      assertThat(result(schema.store().settle(ME, successes(tickets.subList(0, 3)))))
          .containsOnly(true);
      assertConflict(failure(schema.store().settle(ME, successes(tickets.subList(3, 4)))));
      holder.rollback();
    }
    assertThat(result(schema.store().settle(ME, successes(tickets.subList(3, 4)))))
        .containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(8);
    sweep(schema);
    assertThat(number("select count(*) from fencepost.claim_batch")).isZero();
  }

  /** A start that is settled twice in one group stands for one row only. */
  @Test
  void oneSaidTwiceDoesNotEndAnother() {
    List<Claim.Ticket> tickets = start(schema, requests(2, null, 0));
    List<Settlement> group = new ArrayList<>(successes(tickets.subList(0, 1)));
    group.addAll(successes(tickets.subList(0, 1)));
    assertThat(result(schema.store().settle(ME, group))).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(1);
    assertThat(number("select count(*) from fencepost.claim_batch")).isEqualTo(1);
    assertThat(result(schema.store().settle(ME, successes(tickets)))).containsOnly(true);
    assertThat(number(COMPLETED)).isEqualTo(2);
  }

  /**
   * Whole batches are not locked in the order of their keys, as redeliveries are: whichever the
   * server gives up is said once more.
   */
  @Test
  void aDeadlockCostsTimeAndNothingElse() throws SQLException {
    List<Claim.Ticket> tickets = new ArrayList<>();
    for (int i = 5; i >= 0; i--) {
      tickets.addAll(start(schema, requests(1, null, i)));
    }
    String all = "select 1 from fencepost.activity where event_id %s order by event_id for update";
    try (Connection holder = PostgresServer.connect(schema.uri())) {
      holder.setAutoCommit(false);
      holder.createStatement().execute(all.formatted("= 'event-000'"));
      Future<List<Boolean>> settled = schema.store().settle(ME, successes(tickets));
      Await.until(
          "it waits",
          () ->
              number(
                      "select count(*) from pg_locks where not granted and locktype ="
                          + " 'transactionid'")
                  == 1);
      String state = sqlState(holder, all.formatted("> 'event-000'"));
      holder.rollback();
      if (state == null) { // the settlement may have been given up
        settled = settled.recover(e -> again(e, tickets));
      } else {
        assertThat(state).isEqualTo("40P01");
      }
      assertThat(result(settled)).containsOnly(true);
    }
    assertThat(number(COMPLETED)).isEqualTo(6);
    sweep(schema);
    assertThat(number("select count(*) from fencepost.claim_batch")).isZero();
  }

  private Future<List<Boolean>> again(Throwable failure, List<Claim.Ticket> tickets) {
    assertConflict(failure);
    return schema.store().settle(ME, successes(tickets));
  }

  private static String sqlState(Connection connection, String sql) {
    try {
      connection.createStatement().execute(sql);
      return null;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  @Test
  void whatIsPurgedAndSweptAfterwards() {
    List<Claim.Ticket> tickets = new ArrayList<>(start(schema, requests(50, null, 0)));
    tickets.addAll(start(schema, requests(50, null, 50)));
    assertThat(result(schema.store().settle(ME, successes(tickets)))).containsOnly(true);
    assertThat(result(schema.store().expired("c", null, 10))).isEmpty();
    assertThat(result(schema.store().purge("c", Duration.ofDays(7), 1_000))).isZero();
    schema.elapse("c", Duration.ofDays(8));
    assertThat(result(schema.store().expired("c", null, 10))).isEmpty();
    assertThat(number("select count(*) from fencepost.claim_batch")).isZero();
    assertThat(result(schema.store().purge("c", Duration.ofDays(7), 1_000))).isEqualTo(100);
    assertThat(number("select count(*) from fencepost.activity")).isZero();
    assertThat(start(schema, requests(50, null, 0))).as("they are new").hasSize(50);
  }

  /** A renewal that finds it taken over is the last that is heard of a start. */
  @Test
  void whatIsLostIsForgotten() {
    BatchLedger ledger = new BatchLedger();
    DurableWork work = new DurableWork(schema.database());
    Pulse pulse = new Pulse(work, Pulse.Ages.NONE);
    KeyReleases releases = new KeyReleases(work, consumer -> {});
    Settlements settlements = new Settlements(work, ledger, releases, new WrittenLetters(), pulse);
    Leases leases = new Leases(work, settlements, ledger);
    List<ActivityStore.Renewal> renewals = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ActivityId id = new ActivityId("c", "gone-" + i);
      ledger.started(id, 1, 7 + i / 5);
      renewals.add(new ActivityStore.Renewal(id, 1, null, null));
    }
    assertThat(result(leases.renew(ME, TTL, renewals))).containsOnly(ActivityStore.Renewed.LOST);
    assertThat(ledger).hasToString(new BatchLedger().toString());
  }

  // ---- words of the tests

  private static void assertConflict(Throwable failure) {
    assertThat(FencepostException.is(failure, FailureKind.DATABASE_CONFLICT))
        .as(String.valueOf(failure))
        .isTrue();
  }

  private void sweep(WorkerSchema by) {
    PostgresServer.execute(schema.uri(), "update fencepost.claim_batch set until = now()");
    assertThat(result(by.store().expired("c", null, 10))).isEmpty();
  }

  private static List<Claim.Ticket> start(WorkerSchema by, List<Claim.Request> requests) {
    return result(by.store().claim(ME, requests)).stream()
        .map(answer -> ((Claim.Started) answer).ticket())
        .toList();
  }

  private static List<Settlement> successes(List<Claim.Ticket> tickets) {
    return tickets.stream()
        .map(t -> new Settlement(t, new Settlement.Completed(Receipt.succeeded()), null))
        .toList();
  }

  private static List<Claim.Request> requests(int n, String key, int from) {
    Claim.Work work = new Claim.Work("t", ActivityKind.IDEMPOTENT, 4, 3, TTL);
    Delivery.Envelope message =
        new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
    return IntStream.range(from, from + n)
        .mapToObj(
            i ->
                new Claim.Request(
                    new ActivityId("c", "event-%03d".formatted(i)), work, key, false, message))
        .toList();
  }

  private long number(String sql) {
    try (Connection connection = PostgresServer.connect(schema.uri());
        ResultSet rows = connection.createStatement().executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
