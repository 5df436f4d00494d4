package dev.fencepost.pg;

import static dev.fencepost.testing.Await.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
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
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Queues without work cost next to nothing, and nothing that comes up is missed for it. */
class PgIdleIT {
  private static final String ME = "host-1-aaaa";
  private static final ErrorInfo ERROR = new ErrorInfo("E", "no", null);
  private static final Claim.Work WORK =
      new Claim.Work("t", ActivityKind.QUERYABLE, 4, 3, Duration.ofSeconds(30));

  private static WorkerSchema schema;
  private static PgActivityStore store;

  private final String consumer = "c" + System.nanoTime();

  @BeforeAll
  static void open() {
    schema = WorkerSchema.open();
    store = new PgActivityStore(schema.database(), schema.database());
  }

  @AfterAll
  static void close() {
    schema.close();
  }

  @Test
  void aHundredIdleQueuesAskAsOneDoes() {
    String uri;
    try (WorkerSchema own = WorkerSchema.open()) {
      uri = own.uri();
      PgActivityStore idle = new PgActivityStore(own.database(), own.database());
      for (int second = 0; second < 3; second++) {
        List<Future<?>> ticks = new ArrayList<>();
        for (int queue = 0; queue < 100; queue++) {
          ticks.addAll(ticks(idle, "queue-" + queue));
        }
        result(Future.all(ticks));
      }
    }
    Await.asserted(
        "of 1800 questions few reach the database; most of these are the migration's",
        Duration.ofSeconds(30),
        () -> assertThat(commits(uri)).isBetween(1L, 90L));
  }

  private static List<Future<?>> ticks(ActivityStore store, String queue) {
    return List.of(
        store.claimDue(ME, queue, Map.of("t", new ActivityStore.Slots(WORK, 10))),
        store.claimSuspect(ME, queue, Map.of("t", WORK)),
        store.expired(queue, null, 50),
        store.resolveTypes(queue, List.of("t"), Duration.ofHours(24), 100),
        store.openReviews(queue),
        store.purge(queue, Duration.ofDays(7), 1000));
  }

  private static long commits(String uri) {
    try (Connection connection = PostgresServer.connect(uri);
        ResultSet row =
            connection
                .createStatement()
                .executeQuery(
                    "select xact_commit from pg_stat_database where datname ="
                        + " current_database()")) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whatThisProcessSchedulesIsFoundWhenItIsDue() {
    for (int i = 0; i < 5; i++) {
      assertThat(due(store)).as("and that it is idle is remembered").isEmpty();
      Claim.Ticket ticket = start("event-" + i);
      settle(
          ticket,
          new Settlement.RunAgain(AttemptOutcome.TRANSIENT_FAILURE, Duration.ZERO, true, ERROR));
      assertThat(due(store)).extracting(d -> d.ticket().id()).containsExactly(ticket.id());
    }
  }

  @Test
  void aDelayThatHasPassedIsNotForgotten() {
    Claim.Ticket ticket = start("delayed");
    settle(
        ticket,
        new Settlement.RunAgain(
            AttemptOutcome.TRANSIENT_FAILURE, Duration.ofMillis(150), true, ERROR));
    assertThat(due(store)).isEmpty();
    long before = System.nanoTime();
    Await.until("it is due", () -> !due(store).isEmpty());
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofMillis(400));
  }

  @Test
  void whatAnotherProcessSchedulesIsFoundSoon() {
    PgActivityStore other = new PgActivityStore(schema.database(), schema.database());
    assertThat(due(other)).isEmpty();
    settle(start("foreign"), new Settlement.Interrupted());
    Await.until("the other process finds it", Duration.ofSeconds(2), () -> !due(other).isEmpty());
  }

  @Test
  void whatWasDueLongBeforeTheProcessStartedIsFound() {
    Claim.Ticket ticket = start("old");
    settle(ticket, new Settlement.Interrupted());
    schema.elapse(consumer, Duration.ofDays(2));
    PgActivityStore fresh = new PgActivityStore(schema.database(), schema.database());
    assertThat(due(fresh)).extracting(d -> d.ticket().id()).containsExactly(ticket.id());
  }

  @Test
  void aBacklogIsWorkedThroughToItsEnd() {
    for (int i = 0; i < 7; i++) {
      settle(start("event-" + i), new Settlement.Interrupted());
    }
    int found = 0;
    for (int round = 0; round < 4; round++) {
      found +=
          result(store.claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(WORK, 2))))
              .size();
    }
    assertThat(found).isEqualTo(7);
  }

  @Test
  void whatGrowsOldIsPurgedThoughThereWasNothingOldBefore() {
    Pulse.Ages usual = Pulse.Ages.USUAL;
    PgActivityStore seldom =
        new PgActivityStore(
            schema.database(),
            schema.database(),
            new Pulse.Ages(usual.due(), usual.standing(), Duration.ofMillis(100), usual.all()));
    Duration kept = Duration.ofDays(7);
    settle(start("old"), new Settlement.Completed(Receipt.succeeded()));
    assertThat(result(seldom.purge(consumer, kept, 10))).isZero();

    schema.elapse(consumer, Duration.ofDays(8));

    Await.until("its row is gone", () -> result(seldom.purge(consumer, kept, 10)).equals(1));
  }

  @Test
  void oneQuestionTellsWhichQueuesHaveAnythingToSweepOrToStart() {
    PgActivityStore other = new PgActivityStore(schema.database(), schema.database());
    Set<String> asked = Set.of(consumer, "nothing-in-it");
    settle(start("again"), new Settlement.Interrupted());
    settle(start("lost"), new Settlement.Undecided(AttemptOutcome.TIMED_OUT, ERROR, Duration.ZERO));

    assertThat(result(other.mayBeDue(asked))).containsExactly(consumer);
    assertThat(result(other.mayNeedSweep(asked))).containsExactly(consumer);
    assertThat(result(other.mayBeDue(Set.of("nothing-in-it")))).isEmpty();
  }

  @Test
  void aRunLeftToTheSweepIsFoundAtOnce() {
    assertThat(result(store.expired(consumer, null, 10))).isEmpty();
    Claim.Ticket ticket = start("undecided");
    settle(ticket, new Settlement.Undecided(AttemptOutcome.TIMED_OUT, ERROR, Duration.ZERO));
    assertThat(result(store.expired(consumer, null, 10))).hasSize(1);
  }

  private List<Claim.Due> due(ActivityStore of) {
    return result(of.claimDue(ME, consumer, Map.of("t", new ActivityStore.Slots(WORK, 10))));
  }

  private Claim.Ticket start(String event) {
    Claim.Request request =
        new Claim.Request(new ActivityId(consumer, event), WORK, null, false, message());
    return ((Claim.Started) result(store.claim(ME, List.of(request))).get(0)).ticket();
  }

  private static void settle(Claim.Ticket ticket, Settlement.How how) {
    assertThat(result(store.settle(ME, List.of(new Settlement(ticket, how, message())))))
        .containsExactly(true);
  }

  private static Delivery.Envelope message() {
    return new Delivery.Envelope("x", "k", Map.of(), Map.of(), new byte[] {1}, null);
  }
}
