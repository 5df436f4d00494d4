package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.pg.PgLaneStore;
import dev.fencepost.pg.PgOutboxStore;
import dev.fencepost.pg.PgParkedRows;
import dev.fencepost.pg.PgRelayUpkeep;
import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * R14: what an owner that was replaced still asks of the database is refused, all of it: by another
 * process, or by its own that took the lane anew.
 */
class ReplacedOwnerIT {
  private static final Duration TTL = Duration.ofMillis(500);
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Set<Integer> LANE = Set.of(0);
  private static final OutboxStore.Limit LIMIT = new OutboxStore.Limit(10, 1 << 20);

  private final Vertx vertx = Vertx.vertx();
  private Outbox outbox;
  private PgDatabase database;
  private PgLaneStore lanes;
  private PgOutboxStore reads;

  @BeforeEach
  void start() {
    outbox = new Outbox(Databases.migrated(RelayConfigs.relay(1)));
    database = PgDatabase.open(vertx, RelayConfigs.database(outbox.uri()), "test");
    lanes = new PgLaneStore(database);
    reads = new PgOutboxStore(database);
  }

  @AfterEach
  void stop() {
    Await.result(database.close());
    Await.result(vertx.close());
  }

  @ParameterizedTest
  @ValueSource(strings = {"another", "replaced"})
  void nothingIsDoneForAReplacedOwner(String successor) {
    outbox.insert("", "q", "a", "1");
    outbox.insert("", "q", "b", "2");
    outbox.execute(
        "select fencepost.publish(exchange => '', routing_key => 'q', type => 't', payload => '3',"
            + " deliver_at => clock_timestamp() + interval '1 second')");
    LaneStore.Taken old = taken("replaced");
    List<OutboxRow> rows = rows(old);
    Checkpoint first = old.newest().next(old.fence(), old.newest().cursor());
    assertThat(park("replaced", rows.get(0), first)).as("while it is the owner").isTrue();

    LaneStore.Taken now = taken(successor);
    assertThat(now.newest()).usingRecursiveComparison().ignoringFields("before").isEqualTo(first);
    String standing = standing();
    SoftAssertions asked = new SoftAssertions();
    Checkpoint late = first.next(old.fence(), first.cursor());
    asked.assertThat(appended("replaced", old, late)).as("a checkpoint").isEmpty();
    asked.assertThat(park("replaced", rows.get(1), late)).as("a row to park").isFalse();
    ParkedRows.LaneOwner owner = new ParkedRows.LaneOwner("replaced", 0, old.fence());
    PgParkedRows parked = new PgParkedRows(database);
    ParkedRows.Answer refused =
        new ParkedRows.Answer(rows.get(0), ParkedReason.REJECTED, null, Duration.ofHours(1));
    asked.assertThat(lost(parked.settle(owner, List.of(refused)))).as("a refusal").isTrue();
    ParkedRows.Destination all = new ParkedRows.Destination("", null);
    asked
        .assertThat(lost(parked.postpone(owner, all, Duration.ofHours(1), rows)))
        .as("a delay")
        .isTrue();
    outbox.ask("skip", "a");
    asked.assertThat(lost(parked.carryOut(owner))).as("an operator's request").isTrue();
    LaneStore.Lag lag = new LaneStore.Lag(LagCause.NONE, false, null, List.of());
    LaneStore.Report report = new LaneStore.Report(0, old.fence(), 1, lag, 0);
    asked
        .assertThat(Await.result(lanes.renew("replaced", LONG, List.of(report))).renewed())
        .as("a renewal")
        .isEmpty();
    Await.until(
        "the scheduled row is due",
        () -> outbox.number("select count(*) from fencepost.scheduled where due_at < now()") == 1);
    asked
        .assertThat(Await.result(new PgRelayUpkeep(database).moveDue(owner, 10)).rows())
        .as("scheduled rows moved")
        .isZero();
    Await.result(lanes.release("replaced", Map.of(0, old.fence())));
    asked.assertThat(standing()).as("the lane").isEqualTo(standing);
    asked.assertAll();

    Checkpoint next = now.newest().next(now.fence(), first.cursor());
    assertThat(appended(successor, now, next)).as("its successor's").containsExactly(0);
  }

  /** The lane's lease, checkpoints, parked and scheduled rows. */
  private String standing() {
    return String.join(
        " ",
        outbox.strings(
            "select concat_ws('/', owner, fence, lease_until, (select max(n)"
                + " from fencepost.relay_checkpoints), (select string_agg(seq::text, ',')"
                + " from fencepost.parked where next_attempt_at < now() + interval '1 minute'),"
                + " (select count(*) from fencepost.scheduled)) from fencepost.relay_leases"
                + " join fencepost.relay_reports using (lane)"));
  }

  /** Once the lease of the owner before has run out. */
  private LaneStore.Taken taken(String instance) {
    return Await.value(
        "the lane for " + instance,
        Duration.ofSeconds(30),
        () -> {
          List<LaneStore.Taken> taken = Await.result(lanes.take(instance, TTL, LANE));
          return taken.isEmpty() ? null : taken.get(0);
        });
  }

  private List<OutboxRow> rows(LaneStore.Taken owner) {
    OutboxStore.Opening opening =
        new OutboxStore.Opening(0, 0, owner.newest().cursor().last(), LIMIT);
    return Await.result(reads.open("replaced", owner.life(), List.of(), List.of(opening)).opened())
        .pages()
        .get(0);
  }

  private Set<Integer> appended(String instance, LaneStore.Taken owner, Checkpoint checkpoint) {
    return Await.result(reads.mark(instance, owner.life(), List.of(checkpoint))).appended();
  }

  private boolean park(String instance, OutboxRow row, Checkpoint checkpoint) {
    LaneStore.Parking parking =
        new LaneStore.Parking(row, ParkedReason.REJECTED, null, 1, Duration.ofSeconds(1));
    String life = outbox.strings("select life from fencepost.relay_life").get(0);
    return Await.result(lanes.park(instance, life, List.of(parking), checkpoint));
  }

  private static boolean lost(Future<?> change) {
    return Await.result(
        change.transform(
            done ->
                Future.succeededFuture(
                    done.failed() && FencepostException.is(done.cause(), FailureKind.LEASE_LOST))));
  }
}
