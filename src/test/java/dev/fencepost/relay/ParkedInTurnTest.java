package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What changes a lane's parked rows does so in turn, and ends when the lane does. */
class ParkedInTurnTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final List<List<LaneStore.Parking>> parked = new CopyOnWriteArrayList<>();
  private final List<ParkedRows.Due> due = new CopyOnWriteArrayList<>();
  private final List<List<ParkedRows.Answer>> settled = new CopyOnWriteArrayList<>();
  private final Promise<ParkedRows.State> settling = Promise.promise();

  /** Answers what operators ask, where it is to be something else. */
  private volatile @Nullable Future<ParkedRows.State> carrying;

  private final AtomicInteger voided = new AtomicInteger();
  private final LaneLoop lane = lane();

  @BeforeEach
  void start() throws Exception {
    on(
        () -> {
          lane.start();
          return null;
        });
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  @Test
  void aRowIsNotParkedBehindOneThatIsBeingTakenAway() throws Exception {
    refusedAndDueAgain();
    Await.until("its publication is being settled", SOON, () -> settled.size() == 1);

    read(2);
    on(() -> null);
    assertThat(parked).as("the next of its key waits").hasSize(1);

    on(() -> settling.tryComplete(new ParkedRows.State(Set.of("k"), 1, List.of(), null)));
    Await.until("the next of its key is parked", SOON, () -> parked.size() == 2);
    assertThat(parked.get(1))
        .extracting(LaneStore.Parking::reason)
        .containsOnly(ParkedReason.BEHIND_KEY);
  }

  @Test
  void aLaneEndsWhileTheBrokerOwesAnAnswerForAParkedRow() throws Exception {
    broker.silent = true;
    settling.tryComplete(new ParkedRows.State(Set.of(), 0, List.of(), null));
    on(
        () -> {
          due.add(new ParkedRows.Due(row(1), ParkedReason.UNROUTABLE, 1));
          lane.requested();
          return null;
        });
    Await.until("it was sent", SOON, () -> broker.rows().size() == 1);
    Future<Void> stopped = on(() -> lane.stop());
    stopped.toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  /** The rows may be there or not: only reading anew tells how many are left. */
  @ParameterizedTest
  @EnumSource(names = {"TIMEOUT", "DATABASE_UNREACHABLE"})
  void rowsOfWhichNobodyKnowsWhetherTheyWereTakenAwayMakeTheLaneVoid(FailureKind kind)
      throws Exception {
    refusedAndDueAgain();
    Await.until("its publication is being settled", SOON, () -> settled.size() == 1);
    on(() -> settling.tryFail(new FencepostException(kind, "no answer")));
    Await.until("the lane is void", SOON, () -> voided.get() == 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"TIMEOUT", "DATABASE_UNREACHABLE"})
  void soDoesARequestOfAnOperator(FailureKind kind) throws Exception {
    carrying = Future.failedFuture(new FencepostException(kind, "no answer"));
    Await.until(
        "the lane is void",
        SOON,
        () -> {
          // Asked for again as long as it is there: the first may come while another is carried
          // out.
          on(
              () -> {
                lane.requested();
                return null;
              });
          return voided.get() > 0;
        });
  }

  @Test
  void aSettlementThatTheDatabaseRefusedIsMadeAgain() throws Exception {
    refusedAndDueAgain();
    Await.until("its publication is being settled", SOON, () -> settled.size() == 1);
    due.add(new ParkedRows.Due(row(1), ParkedReason.UNROUTABLE, 1));
    on(() -> settling.tryFail(new FencepostException(FailureKind.DATABASE_CONFLICT, "a deadlock")));
    Await.until("it is settled again", SOON, () -> settled.size() > 1);
    assertThat(voided).hasValue(0);
  }

  private void refusedAndDueAgain() throws Exception {
    broker.refuses = row -> ParkedReason.UNROUTABLE;
    read(1);
    Await.until("the row is parked", SOON, () -> parked.size() == 1);
    broker.refuses = row -> null;
    on(
        () -> {
          due.add(new ParkedRows.Due(row(1), ParkedReason.UNROUTABLE, 1));
          lane.requested();
          return null;
        });
  }

  /** A batch with this one row. */
  private void read(long seq) throws Exception {
    on(
        () -> {
          Snapshot cur = Snapshot.of(100 + seq);
          OutboxStore.Opening opening = lane.opening();
          lane.opened(
              new OutboxStore.Opened("life", cur, Map.of(0, List.of(row(seq)))), seq, opening);
          return null;
        });
  }

  private static OutboxRow row(long seq) {
    return new OutboxRow(
        new OutboxRow.Position(100, seq, 0),
        new OutboxRow.Route("x", "r"),
        "event-" + seq,
        "t",
        "k",
        new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));
  }

  private LaneLoop lane() {
    Cursor cursor = new Cursor(Snapshot.of(100), 0, Map.of(), null, 0);
    LaneStore.Taken taken =
        new LaneStore.Taken(
            "life", new Checkpoint(0, 0, 0, -1, cursor), 1, Set.of(), Set.of(), Set.of(), Map.of());
    long trusted = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    ParkedLog log = new ParkedLog(line -> {}, line -> {}, System::nanoTime);
    RelayPorts ports =
        new RelayPorts(
            port(OutboxStore.class),
            lanes(),
            new Table(),
            port(RelayUpkeep.class),
            port(Doorbell.class),
            new FakePublisher(vertx, broker),
            port(RelayEvents.class));
    return new LaneLoop(
        vertx,
        new RelaySettings("me", RelayConfigs.relay(1)),
        ports,
        new LaneLoop.Lane(taken, () -> trusted, new ParkedTotal(100), log, () -> {}, lost()));
  }

  private LaneLoop.Lost lost() {
    return fault -> {
      if (fault == null) {
        voided.incrementAndGet();
      }
    };
  }

  /** Does nothing, and answers nothing. */
  private static <T> T port(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, m, a) -> null));
  }

  private LaneStore lanes() {
    return (LaneStore)
        Proxy.newProxyInstance(
            LaneStore.class.getClassLoader(),
            new Class<?>[] {LaneStore.class},
            (proxy, method, arguments) -> {
              @SuppressWarnings("unchecked")
              List<LaneStore.Parking> rows = (List<LaneStore.Parking>) arguments[2];
              parked.add(List.copyOf(rows));
              return later(true);
            });
  }

  /** Answers as a database does: not before the caller has gone on. */
  private <T> Future<T> later(T answer) {
    Promise<T> promise = Promise.promise();
    vertx.runOnContext(v -> promise.complete(answer));
    return promise.future();
  }

  private final class Table implements ParkedRows {
    @Override
    public Future<List<Due>> due(int lane, OutboxStore.Limit limit) {
      List<Due> now = new ArrayList<>(due);
      due.clear();
      return later(now);
    }

    @Override
    public Future<State> settle(LaneOwner owner, List<Answer> answers) {
      if (answers.isEmpty()) {
        return later(none());
      }
      settled.add(List.copyOf(answers));
      return settling.future();
    }

    @Override
    public Future<State> postpone(
        LaneOwner owner, Destination to, Duration by, List<OutboxRow> tried) {
      return later(none());
    }

    @Override
    public Future<State> carryOut(LaneOwner owner) {
      Future<State> other = carrying;
      return other == null ? later(none()) : other;
    }

    private State none() {
      return new State(Set.of(), 0, List.of(), null);
    }
  }

  private <T> T on(Callable<T> work) {
    return Await.on(context, work);
  }
}
