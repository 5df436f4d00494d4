package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.testing.Await;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Many routing keys of one exchange are not confirmed: who is tried, who is held, and who goes on.
 */
class SilenceTest {
  /** Whatever is not answered is overdue. */
  private static final FencepostConfig.Relay.Limits LIMITS =
      new FencepostConfig.Relay.Limits(
          1 << 20, Duration.ZERO, Duration.ofMillis(20), Duration.ofMillis(50), 1_000);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final HandPublisher broker = new HandPublisher();
  private final InFlight rows = new InFlight(true);
  private final List<Long> judged = new ArrayList<>();
  private final Batch batch =
      new Batch(
          new Cursor(Snapshot.of(10), 0, Map.of(), null, 0),
          new Cursor.Ahead(Snapshot.of(20), 100),
          0);
  private final Silence silence =
      new Silence(
          vertx,
          0,
          LIMITS,
          rows,
          new Quarantine(
              vertx, broker, HandPublisher.lane(), Quarantine.Kind.SILENT, LIMITS.confirmTimeout()),
          new Judge());

  /** Rows 1 to 8 are out, each with a routing key of its own, and nothing is heard of them. */
  @BeforeEach
  void overdue() {
    on(
        () -> {
          LongStream.rangeClosed(1, 8).forEach(this::admit);
          send();
          silence.suspect(rows.recall(false));
          assertThat(send()).as("sent by the lane").isEmpty();
        });
    assertThat(tried())
        .as("five singly, and one for all others")
        .containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
  }

  @AfterEach
  void close() {
    Await.result(vertx.close());
  }

  @Test
  void onceOneOfAnExchangeIsConfirmedEachOtherIsTriedByItself() {
    on(
        () -> {
          broker.confirm(2);
          assertThat(send()).as("what may be silent").isEmpty();
        });
    assertThat(tried()).contains(7L, 8L);
    on(
        () -> {
          LongStream.rangeClosed(3, 8).forEach(broker::confirm);
          assertThat(judged).containsExactly(2L, 3L, 4L, 5L, 6L, 7L, 8L);
          broker.silence();
          LongStream.rangeClosed(1, 8).forEach(key -> admit(10 + key, "r" + key));
          assertThat(send())
              .as("what does not go where nothing is confirmed")
              .containsExactly(12L, 13L, 14L, 15L, 16L, 17L, 18L);
        });
  }

  /** They share a channel that takes a hundred, and what is dead stays there for long. */
  @Test
  void notAllOfAnExchangeAreTriedAtOnce() {
    on(
        () -> {
          LongStream.rangeClosed(11, 60).forEach(this::admit);
          assertThat(send()).isEmpty();
          broker.confirm(2);
        });
    assertThat(tried()).as("those at first, what makes twenty, and one for the rest").hasSize(22);
    on(
        () -> {
          for (long out = 1; out > 0; ) {
            out =
                broker.written.stream()
                    .flatMap(List::stream)
                    .filter(this::isOut)
                    .findFirst()
                    .orElse(0L);
            if (out > 0) {
              broker.confirm(out);
            }
          }
          assertThat(judged).as("by and by").hasSize(58);
          assertThat(silence.none()).isTrue();
        });
  }

  /** Many that are silent after one that was confirmed: that one goes on, and so do the trials. */
  @Test
  void whatWasConfirmedIsFreeThoughTheRestOfItsExchangeIsHeld() {
    on(
        () -> {
          LongStream.rangeClosed(11, 60).forEach(this::admit);
          assertThat(send()).isEmpty();
          broker.confirm(6);
          broker.silence();
        });
    Set<Long> before = tried();
    Await.until("another one is tried", () -> tried().size() > before.size());
    on(
        () -> {
          admit(70, "r6");
          admit(71, "r60");
          assertThat(send()).containsExactly(70L);
          silence.suspect(rows.recall(false));
          assertThat(send()).as("it is not confirmed any more, either").isEmpty();
        });
  }

  private boolean isOut(long seq) {
    return !judged.contains(seq);
  }

  /** As many dead queues as are tried at once, and one more. */
  @Test
  void theOthersAreTriedByTurn() {
    on(broker::silence);
    Await.until("the next one is tried", () -> tried().contains(7L));
    on(
        () -> {
          broker.confirm(7);
          assertThat(judged).containsExactly(7L);
          LongStream.rangeClosed(1, 8).forEach(key -> admit(10 + key, "r" + key));
          admit(20, "new");
          assertThat(send()).as("what is not suspected").containsExactly(17L, 20L);
          broker.confirm(8);
          assertThat(send()).as("the rest of its routing key").containsExactly(18L);
        });
  }

  @Test
  void aWholeExchangeIsParkedOnceSixOfItsRoutingKeysWereTriedInVain() {
    Destinations destinations = new Destinations(LIMITS);
    Parker parker = new Parker(rows, destinations, Set.of());
    on(
        () -> {
          silence.answered(System.nanoTime());
          broker.silence();
          silence.giveWay(parker);
          assertThat(parker.take(100).rows())
              .extracting(parking -> parking.row().seq(), LaneStore.Parking::reason)
              .containsExactlyInAnyOrderElementsOf(
                  LongStream.rangeClosed(1, 8)
                      .mapToObj(seq -> tuple(seq, ParkedReason.REJECTED))
                      .toList());
          assertThat(destinations.silent(new OutboxRow.Route("x", "new"))).isNotNull();
        });
  }

  @Test
  void onlyWhatWasTriedInVainIsParked() {
    Parker parker = new Parker(rows, new Destinations(LIMITS), Set.of());
    on(
        () -> {
          silence.answered(System.nanoTime());
          silence.giveWay(parker);
          assertThat(parker.pending()).as("before anything was tried in vain").isFalse();
          List.of(2L, 7L, 8L).forEach(broker::confirm);
          broker.silence();
          silence.giveWay(parker);
          List<Held> parked = parker.take(100).held();
          assertThat(parked.stream().map(held -> held.row.seq()))
              .containsExactlyInAnyOrder(1L, 3L, 4L, 5L, 6L);
        });
  }

  private void admit(long seq) {
    admit(seq, "r" + seq);
  }

  private void admit(long seq, String routingKey) {
    rows.enqueue(rows.admit(HandPublisher.row(seq, "x", routingKey), batch));
  }

  /** What the lane sends on its own channel. */
  private List<Long> send() {
    List<Long> sent = new ArrayList<>();
    Held held;
    while ((held = rows.poll(true)) != null) {
      if (silence.holds(held)) {
        rows.leave(held);
      } else {
        rows.markSent(held, System.nanoTime());
        sent.add(held.row.seq());
      }
    }
    return sent;
  }

  private Set<Long> tried() {
    Set<Long> seqs = new TreeSet<>();
    on(() -> broker.written.forEach(seqs::addAll));
    return seqs;
  }

  private void on(Runnable work) {
    Await.on(
        context,
        () -> {
          work.run();
          return true;
        });
  }

  private final class Judge implements Suspects.Court {
    @Override
    public void judged(Held held, Publisher.Verdict verdict) {
      judged.add(verdict.seq());
      rows.settle(held);
    }

    @Override
    public void released() {}

    @Override
    public void guarded(Runnable step) {
      step.run();
    }
  }
}
