package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What was asked of the database before a lane drains comes back while it does, or afterwards. */
class DrainingLaneTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final FakePublisher.Broker broker = new FakePublisher.Broker();
  private final Promise<List<OutboxRow>> page = Promise.promise();
  private final LaneLoop lane = lane();

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  @Test
  void aBatchThatComesAfterTheDrainIsLeftToTheNextOwner() throws Exception {
    usable();
    OutboxStore.Opening opening = on(lane::opening);
    Future<Void> drained = on(lane::drain);
    ended(drained);
    on(() -> opened(opening, row(1)));
    on(() -> null);
    assertThat(broker.rows()).isEmpty();
    assertThat(on(() -> lane.due(true)))
        .as("no checkpoint names a batch that nobody publishes")
        .isNull();
  }

  @Test
  void aPageThatIsBeingReadIsPublishedBeforeTheDrainEnds() throws Exception {
    usable();
    on(() -> opened(new OutboxStore.Opening(0, 0, Snapshot.of(100), one()), row(1)));
    Await.until("the first page is published", SOON, () -> broker.rows().size() == 1);
    Future<Void> drained = on(lane::drain);
    on(() -> null);
    assertThat(drained.isComplete()).as("the second page is on its way").isFalse();

    page.complete(List.of(row(2)));
    ended(drained);
    assertThat(broker.rows()).extracting(OutboxRow::seq).containsExactly(1L, 2L);
  }

  private static void ended(Future<Void> drained) throws Exception {
    drained.toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  private void usable() throws Exception {
    on(
        () -> {
          lane.start();
          return null;
        });
    Await.until("it takes batches", SOON, () -> on(lane::wantsBatch));
  }

  /** One row, and another page behind it. */
  private static OutboxStore.Limit one() {
    return new OutboxStore.Limit(1, 1 << 20);
  }

  private Void opened(OutboxStore.Opening opening, OutboxRow row) {
    lane.opened(
        new OutboxStore.Opened("life", Snapshot.of(102), Map.of(0, List.of(row))), 2, opening);
    return null;
  }

  private static OutboxRow row(long seq) {
    return new OutboxRow(
        new OutboxRow.Position(100, seq, 0),
        new OutboxRow.Route("x", "r"),
        "event-" + seq,
        "t",
        "k" + seq,
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
            port(OutboxStore.class, page.future()),
            port(LaneStore.class, null),
            port(ParkedRows.class, Promise.promise().future()),
            port(RelayUpkeep.class, null),
            port(Doorbell.class, null),
            new FakePublisher(vertx, broker),
            port(RelayEvents.class, null));
    return new LaneLoop(
        vertx,
        new RelaySettings("me", RelayConfigs.relay(1)),
        ports,
        new LaneLoop.Lane(taken, () -> trusted, new ParkedTotal(100), log, () -> {}, fault -> {}));
  }

  private static <T> T port(Class<T> type, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, m, a) -> answer));
  }

  private <T> T on(Callable<T> work) {
    return Await.on(context, work);
  }
}
