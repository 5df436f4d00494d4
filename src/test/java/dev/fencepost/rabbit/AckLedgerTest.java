package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.rabbit.AckLedger.Ack;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class AckLedgerTest {

  private static final long LONG = AckLedger.PATIENCE_NANOS;
  private final AckLedger ledger = new AckLedger();

  @Test
  void acknowledgesTheContiguousPrefixAtOnce() {
    deliver(5);
    settle(0, 2, 1, 3, 5);
    assertThat(ledger.take(0)).containsExactly(new Ack(3, true));
    assertThat(ledger.waiting()).isTrue();
    settle(1, 4);
    assertThat(ledger.take(1)).containsExactly(new Ack(5, true));
    assertThat(ledger.waiting()).isFalse();
  }

  @Test
  void goesSinglyPastAHeadThatHasHeldOthersUp() {
    deliver(4);
    settle(0, 2, 4);
    assertThat(ledger.take(LONG - 1)).isEmpty();
    assertThat(ledger.take(LONG)).containsExactly(new Ack(2, false), new Ack(4, false));
    settle(LONG, 1);
    assertThat(ledger.take(LONG)).containsExactly(new Ack(1, false));
    settle(LONG, 3);
    assertThat(ledger.take(LONG)).containsExactly(new Ack(3, false));
    assertThat(ledger.outstanding()).isZero();
  }

  @Test
  void knowsWhatIsNotOutstanding() {
    deliver(2);
    assertThat(ledger.settle(3, 0)).isFalse();
    assertThat(ledger.settle(1, 0)).isTrue();
    assertThat(ledger.settle(1, 0)).isFalse();
    assertThat(ledger.take(0)).containsExactly(new Ack(1, false));
    assertThat(ledger.settle(1, 0)).isFalse();
  }

  /** Played against a broker's own rule: multiple takes everything up to the tag. */
  @Property
  void neverAcknowledgesWhatIsNotSettledAndForgetsNothing(
      @ForAll @IntRange(min = 1, max = 60) int count, @ForAll long seed) {
    Random random = new Random(seed);
    AckLedger played = new AckLedger();
    TreeSet<Long> unacknowledged = new TreeSet<>();
    List<Long> unsettled = new ArrayList<>();
    TreeSet<Long> settled = new TreeSet<>();
    long delivered = 0;
    long now = 0;
    while (delivered < count || !unsettled.isEmpty()) {
      if (delivered < count && random.nextBoolean()) {
        played.delivered(++delivered);
        unacknowledged.add(delivered);
        unsettled.add(delivered);
      } else if (!unsettled.isEmpty()) {
        Collections.shuffle(unsettled, random);
        long tag = unsettled.remove(0);
        settled.add(tag);
        assertThat(played.settle(tag, now)).isTrue();
      }
      now += random.nextInt((int) LONG);
      apply(random.nextInt(4) == 0 ? played.take(now) : List.of(), unacknowledged, settled);
    }
    apply(played.takeAll(), unacknowledged, settled);
    assertThat(unacknowledged).isEmpty();
  }

  private static void apply(List<Ack> acks, TreeSet<Long> unacknowledged, TreeSet<Long> settled) {
    for (Ack ack : acks) {
      assertThat(unacknowledged).contains(ack.tag());
      List<Long> taken =
          ack.multiple()
              ? List.copyOf(unacknowledged.headSet(ack.tag(), true))
              : List.of(ack.tag());
      assertThat(settled).containsAll(taken);
      unacknowledged.removeAll(taken);
    }
  }

  private void deliver(int count) {
    LongStream.rangeClosed(1, count).forEach(ledger::delivered);
  }

  private void settle(long now, long... tags) {
    for (long tag : tags) {
      assertThat(ledger.settle(tag, now)).isTrue();
    }
  }
}
