package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lane turned by hand: what ends it, what holds it up, and what it survives. */
class LaneLoopTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final long FLOOR = 200_000;

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final Store store = new Store();
  private final BatchOpener opener = new BatchOpener(store, "me");
  private final List<LaneLoop> lanes = new ArrayList<>();

  /** Why lanes were given up: the fault, or that the database is not what they knew. */
  private final List<String> lost = new CopyOnWriteArrayList<>();

  private volatile long trustedUntil = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
  private volatile @Nullable RuntimeException eventsThrow;
  private volatile @Nullable RuntimeException trustThrows;
  private final AtomicInteger wakes = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  @Test
  void aRefusedCheckpointEndsItsPublishing() throws Exception {
    LaneLoop lane = lane(0, fresh());
    opened(lane, row(1));
    awaitArrived(1);
    store.marks =
        () -> Future.succeededFuture(new OutboxStore.Marked("life", FLOOR + 1, false, Set.of()));
    result(() -> opener.close(lane));

    assertThat(lost).containsExactly("0 void");
    assertThat(lane.stopped()).isTrue();
    opened(lane, row(2));
    assertThat(bodiesAfterAll()).as("nothing more is published").containsExactly(1L);
  }

  /** It may have been appended or not: both are found out by reading anew. */
  @Test
  void aCheckpointOfWhichNothingIsKnownEndsItToo() throws Exception {
    LaneLoop lane = lane(0, fresh());
    opened(lane, row(1));
    awaitArrived(1);
    store.marks = () -> Future.failedFuture(away());
    assertThat(on(() -> opener.close(lane).otherwiseEmpty())).isNotNull();

    Await.until("it is void", SOON, () -> lost.contains("0 void"));
  }

  @Test
  void anotherLifeOfTheDatabaseEndsIt() throws Exception {
    LaneLoop lane = lane(0, fresh());
    store.polls = new OutboxStore.Poll("another", 1, Snapshot.of(101), false);
    result(() -> opener.turn(List.of(lane)));

    assertThat(lost).containsExactly("0 void");
  }

  @Test
  void aLeaseThatCannotBeTrustedStopsItUntilItIsRenewed() throws Exception {
    trustedUntil = System.nanoTime() - 1;
    LaneLoop lane = lane(0, fresh());
    opened(lane, row(1));
    assertThat(bodiesAfterAll()).isEmpty();

    trustedUntil = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    run(() -> lane.renewed(new LaneStore.Behind(Duration.ZERO, LagCause.NONE)));
    awaitArrived(1);
    assertThat(lost).isEmpty();
  }

  @Test
  void anEmptyBatchMovesTheCursor() throws Exception {
    LaneLoop lane = lane(0, fresh());
    opened(lane);

    assertThat(on(lane::wantsBatch)).isTrue();
    Checkpoint checkpoint = on(() -> lane.due(true));
    assertThat(checkpoint.cursor())
        .isEqualTo(new Cursor(Snapshot.of(101), FLOOR + 1, Map.of(), null, 0));
    assertThat(broker.rows()).isEmpty();
    assertThat(on(() -> lane.due(true))).as("one at a time").isNull();
  }

  @Test
  void aFaultWhileSendingEndsIt() throws Exception {
    broker.refuses =
        row -> {
          throw new AssertionError("cannot send");
        };
    opened(lane(0, fresh()), row(1));

    Await.until("it is given up", SOON, () -> lost.contains("0 cannot send"));
  }

  /** What the broker answered is lost then: left as it is, the rows would be out for ever. */
  @Test
  void aFaultWhileVerdictsAreTakenInEndsIt() throws Exception {
    LaneLoop lane = lane(0, fresh());
    eventsThrow = new IllegalStateException("cannot count");
    opened(lane, row(1));

    Await.until("it is given up", SOON, () -> lost.contains("0 cannot count"));
  }

  @Test
  void aPageThatTheDatabaseDoesNotGiveIsAskedForAgain() throws Exception {
    store.pages.add(() -> Future.failedFuture(away()));
    store.pages.add(() -> Future.succeededFuture(List.of(row(3))));
    LaneLoop lane = lane(0, fresh());
    opened(lane, row(1), row(2)); // a full page: there may be more

    awaitArrived(3);
    assertThat(lost).isEmpty();
  }

  /** The reader has moved on, but the rows are not in memory: going on would lose them. */
  @Test
  void aFaultWhileAPageIsTakenInEndsIt() throws Exception {
    store.pages.add(() -> Future.succeededFuture(Arrays.asList(row(3), null)));
    opened(lane(0, fresh()), row(1), row(2));

    Await.until("it is given up", SOON, () -> lost.size() == 1);
  }

  @Test
  void lateRowsThatAreGoneAreNotAskedForAgain() throws Exception {
    store.spans = List.of(new OutboxStore.Span(10, 20), new OutboxStore.Span(60_000, 60_001));
    LaneLoop lane = lane(0, new Cursor(Snapshot.of(100, 90), FLOOR, Map.of(90L, 5L), null, 0));
    opened(lane);

    Await.until("it is read to the end", SOON, () -> on(lane::wantsBatch));
    assertThat(store.asked).containsExactly("10-20", "60000-60001", FLOOR + "-" + Long.MAX_VALUE);
  }

  /** The pace of the loop stands, however many confirms come. */
  @Test
  void oneThatTookItsBatchesAsksForNone() throws Exception {
    LaneLoop lane = lane(0, fresh());
    assertThat(on(lane::wantsBatch)).isTrue();
    opened(lane, row(1));
    awaitArrived(1);
    assertThat(bodiesAfterAll()).containsExactly(1L);
    assertThat(wakes).hasValue(0);
  }

  @Test
  void oneThatCouldTakeNoneAsksOnceItCan() throws Exception {
    broker.down = true;
    LaneLoop lane = lane(0, fresh());
    assertThat(on(lane::wantsBatch)).isFalse();
    broker.down = false;
    Await.until("it asks", SOON, () -> wakes.get() == 1);
  }

  @Test
  void oneThatFailsHoldsUpNoOther() throws Exception {
    LaneLoop faulty = lane(0, fresh());
    LaneLoop sound = lane(1, fresh());
    result(() -> opener.turn(List.of(sound)));
    trustThrows = new IllegalStateException("cannot trust");
    store.polls = new OutboxStore.Poll("life", FLOOR + 2, Snapshot.of(102), false);
    store.opens = Map.of(0, List.of(row(1)), 1, List.of(row(2)));
    result(() -> opener.turn(List.of(faulty, sound)));

    assertThat(lost).containsExactly("0 cannot trust");
    Await.until("the other publishes", SOON, () -> arrived().contains(2L));
  }

  private static FencepostException away() {
    return new FencepostException(FailureKind.DATABASE_UNREACHABLE, "away");
  }

  private static Cursor fresh() {
    return new Cursor(Snapshot.of(100), FLOOR, Map.of(), null, 0);
  }

  private static OutboxRow row(long seq) {
    return new OutboxRow(
        new OutboxRow.Position(100, seq, 0),
        new OutboxRow.Route("x", "r"),
        "event-" + seq,
        "t",
        null,
        new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));
  }

  /** A batch with these rows. */
  private void opened(LaneLoop lane, OutboxRow... rows) throws Exception {
    run(
        () -> {
          Snapshot cur = Snapshot.of(101);
          OutboxStore.Opening opening = lane.opening();
          lane.guarded(
              () ->
                  lane.opened(
                      new OutboxStore.Opened("life", cur, Map.of(0, List.of(rows))),
                      FLOOR + 1,
                      opening));
        });
  }

  private List<Long> arrived() {
    return broker.rows().stream().map(OutboxRow::seq).toList();
  }

  private void awaitArrived(int rows) throws Exception {
    Await.until(rows + " rows", SOON, () -> broker.arrived.size() == rows);
    run(() -> {}); // and their verdicts
  }

  /** Once all that the lane has begun has been carried out. */
  private List<Long> bodiesAfterAll() throws Exception {
    for (int i = 0; i < 5; i++) {
      run(() -> {});
    }
    return arrived();
  }

  private LaneLoop lane(int number, Cursor cursor) throws Exception {
    LaneStore.Taken taken =
        new LaneStore.Taken(
            "life",
            new Checkpoint(number, 0, 0, -1, cursor),
            1,
            Set.of(),
            Set.of(),
            Set.of(),
            Map.of());
    ParkedLog log = new ParkedLog(line -> {}, line -> {}, System::nanoTime);
    RelayPorts ports =
        new RelayPorts(
            store,
            port(LaneStore.class, () -> null),
            new NothingParked(),
            port(RelayUpkeep.class, () -> null),
            port(Doorbell.class, () -> null),
            new FakePublisher(vertx, broker),
            port(RelayEvents.class, () -> thrown(eventsThrow)));
    RelaySettings settings =
        new RelaySettings(
            "me",
            RelayConfigs.with(
                RelayConfigs.relay(2),
                new dev.fencepost.config.FencepostConfig.Relay.Paging(
                    2, 1000, 1 << 20, Duration.ofMillis(2), Duration.ofMillis(50))));
    LaneLoop lane =
        new LaneLoop(
            vertx,
            settings,
            ports,
            new LaneLoop.Lane(
                taken,
                () -> {
                  if (number == 0) {
                    thrown(trustThrows);
                  }
                  return trustedUntil;
                },
                new ParkedTotal(100),
                log,
                wakes::incrementAndGet,
                fault -> given(number, fault)));
    lanes.add(lane);
    run(lane::start);
    return lane;
  }

  /** As the loop of all lanes does. */
  private void given(int number, @Nullable Throwable fault) {
    lost.add(number + " " + (fault == null ? "void" : fault.getMessage()));
    lanes.stream().filter(lane -> lane.number() == number).forEach(LaneLoop::stop);
  }

  private static @Nullable Object thrown(@Nullable RuntimeException fault) {
    if (fault != null) {
      throw fault;
    }
    return null;
  }

  /** Answers everything in the same way. */
  private static <T> T port(Class<T> type, Supplier<@Nullable Object> answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, (p, m, a) -> answer.get()));
  }

  private void run(Runnable work) throws Exception {
    on(
        () -> {
          work.run();
          return true;
        });
  }

  private <T> T on(Callable<T> work) throws Exception {
    return result(() -> Future.succeededFuture(work.call()));
  }

  private interface Asking<T> {
    Future<T> ask() throws Exception;
  }

  private <T> T result(Asking<T> work) throws Exception {
    Promise<T> done = Promise.promise();
    context.runOnContext(
        v -> {
          try {
            work.ask().onComplete(done);
          } catch (Exception e) {
            done.fail(e);
          }
        });
    return done.future().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private static final class NothingParked implements ParkedRows {
    private static final State NONE = new State(Set.of(), 0, List.of(), null);

    @Override
    public Future<List<Due>> due(int lane, OutboxStore.Limit limit) {
      return Future.succeededFuture(List.of());
    }

    @Override
    public Future<State> settle(LaneOwner owner, List<Answer> answers) {
      return Future.succeededFuture(NONE);
    }

    @Override
    public Future<State> postpone(
        LaneOwner owner, Destination to, Duration by, List<OutboxRow> tried) {
      return Future.succeededFuture(NONE);
    }

    @Override
    public Future<State> carryOut(LaneOwner owner) {
      return Future.succeededFuture(NONE);
    }
  }

  /** Says what it is told to; at the end of its pages there is nothing more. */
  private static final class Store implements OutboxStore {
    private final List<Supplier<Future<List<OutboxRow>>>> pages = new CopyOnWriteArrayList<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private volatile List<Span> spans = List.of();
    private volatile Map<Integer, List<OutboxRow>> opens = Map.of();
    private volatile Poll polls = new Poll("life", FLOOR + 1, Snapshot.of(101), false);
    private volatile Supplier<Future<Marked>> marks =
        () -> Future.succeededFuture(new Marked("life", polls.floor(), false, Set.of(0, 1)));

    @Override
    public Future<Poll> poll() {
      return Future.succeededFuture(polls);
    }

    @Override
    public Future<Marked> mark(String owner, String life, List<Checkpoint> checkpoints) {
      return marks.get();
    }

    @Override
    public Turn open(
        String owner, String life, List<Checkpoint> checkpoints, List<Opening> openings) {
      Opened opened = new Opened("life", polls.now(), new HashMap<>(opens));
      return new Turn(marks.get(), Future.succeededFuture(opened));
    }

    @Override
    public Future<List<OutboxRow>> page(PageRequest request) {
      asked.add(request.from().above() + "-" + request.upTo());
      return pages.isEmpty() ? Future.succeededFuture(List.of()) : pages.remove(0).get();
    }

    @Override
    public Future<List<Span>> late(LateRequest request) {
      return Future.succeededFuture(spans);
    }
  }
}
