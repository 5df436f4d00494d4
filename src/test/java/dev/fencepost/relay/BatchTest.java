package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.relay.OutboxStore.Limit;
import dev.fencepost.relay.OutboxStore.PageRequest;
import dev.fencepost.relay.OutboxStore.Span;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The order in which a batch reads: late spans first, then all that is new. */
class BatchTest {
  private static final long FLOOR = 200_000;
  private static final Limit LIMIT = new Limit(500, 1 << 20);

  /** Of a transaction that began at seq 100 and has ended far behind the floor. */
  private static Batch batch(long position) {
    Cursor from = new Cursor(Snapshot.of(1000, 900), FLOOR, Map.of(900L, 100L), null, 0);
    return new Batch(from, new Cursor.Ahead(Snapshot.of(1001), FLOOR + 50), position);
  }

  private static List<Long> next(Batch batch) {
    PageRequest next = batch.next("life", 3, LIMIT);
    return List.of(next.from().above(), next.upTo());
  }

  @Test
  void lateSpansAreReadInOrderAndThenWhatIsNew() {
    Batch batch = batch(0);
    assertThat(batch.seeksLate()).isTrue();
    batch.lateFound(List.of(new Span(100, 5_000), new Span(60_000, 61_000)));

    assertThat(next(batch)).containsExactly(100L, 5_000L);
    batch.pageRead(2_100, true);
    assertThat(next(batch)).containsExactly(2_100L, 5_000L);
    batch.pageRead(4_000, false);
    assertThat(next(batch)).containsExactly(60_000L, 61_000L);
    batch.pageRead(0, false); // what was there has gone
    assertThat(next(batch)).containsExactly(FLOOR, Long.MAX_VALUE);
    assertThat(batch.whole()).isFalse();
    batch.pageRead(FLOOR + 7, false);
    assertThat(batch.whole()).isTrue();
  }

  /** Rows above it come with the rest. */
  @Test
  void noSpanReachesAboveTheFloor() {
    Batch batch = batch(0);
    batch.lateFound(List.of(new Span(199_000, FLOOR + 40), new Span(FLOOR + 20, FLOOR + 40)));

    assertThat(next(batch)).containsExactly(199_000L, FLOOR);
    batch.pageRead(0, false);
    assertThat(next(batch)).containsExactly(FLOOR, Long.MAX_VALUE);
  }

  @Test
  void aNewOwnerGoesOnFromThePosition() {
    Batch batch = batch(60_500);
    batch.lateFound(List.of(new Span(100, 5_000), new Span(60_000, 61_000)));

    assertThat(next(batch)).containsExactly(60_500L, 61_000L);
  }

  @Test
  void whatIsSettledAboveTheFloorHadNoLateRowsLeft() {
    Batch batch = batch(FLOOR + 3);

    assertThat(batch.seeksLate()).isFalse();
    assertThat(next(batch)).containsExactly(FLOOR + 3, Long.MAX_VALUE);
  }

  /** Before it is known which have ended, only the youngest are taken to have. */
  @Test
  void aFirstPageReachesBackToYoungTransactionsOnly() {
    Map<Long, Long> floors = Map.of(900L, 100L, 950L, FLOOR - 7);
    Cursor from = new Cursor(Snapshot.of(1000, 900, 950, 999), FLOOR, floors, null, 0);

    assertThat(Batch.Start.likely(from)).isEqualTo(FLOOR - 7);
    assertThat(Batch.Start.of(from, Snapshot.of(1001, 900, 999)).above()).isEqualTo(FLOOR - 7);
    assertThat(Batch.Start.of(from, Snapshot.of(1001, 900, 950, 999)).above()).isEqualTo(FLOOR);
  }
}
