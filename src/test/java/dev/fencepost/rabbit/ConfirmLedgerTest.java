package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConfirmLedgerTest {

  private static final long GRACE = ConfirmLedger.NACK_GRACE_NANOS;
  private final List<Verdict> verdicts = new ArrayList<>();

  @Test
  void aReturnBeforeTheConfirmIsUnroutable() {
    ConfirmLedger ledger = written(false, 3);
    ledger.returned("m2", "312 NO_ROUTE");
    ledger.confirmed(3, true);
    assertThat(reasons()).containsExactly(null, ParkedReason.UNROUTABLE, null);
    assertThat(verdicts.get(1).detail()).isEqualTo("312 NO_ROUTE");
  }

  @Test
  void aNackWithoutReturnIsRejectedAtOnceWhereReturnsComeFirst() {
    ConfirmLedger ledger = written(false, 2);
    ledger.nacked(2, false, 0);
    assertThat(verdicts).extracting(Verdict::seq).containsExactly(2L);
    assertThat(reasons()).containsExactly(ParkedReason.REJECTED);
    assertThat(ledger.oldest().id).isEqualTo(1);
  }

  @Test
  void aNackWaitsForItsReturnWhereThatComesLater() {
    ConfirmLedger ledger = written(true, 3);
    ledger.nacked(2, true, 0);
    assertThat(verdicts).isEmpty();
    ledger.returned("m1", "312 NO_ROUTE");
    ledger.expire(GRACE - 1);
    assertThat(reasons()).containsExactly(ParkedReason.UNROUTABLE);
    ledger.expire(GRACE);
    assertThat(reasons()).containsExactly(ParkedReason.UNROUTABLE, ParkedReason.REJECTED);
    assertThat(ledger.holdsNacks()).isFalse();
    assertThat(ledger.oldest().id).isEqualTo(3);
  }

  @Test
  void growsPastItsFirstCapacity() {
    ConfirmLedger ledger = written(false, 100);
    ledger.confirmed(90, true);
    LongStream.rangeClosed(101, 2000).forEach(n -> ledger.add(message(n)));
    ledger.confirmed(2000, true);
    assertThat(verdicts)
        .extracting(Verdict::seq)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 2000).boxed().toList());
    assertThat(ledger.oldest()).isNull();
  }

  /** Whatever the order of answers, each message ends in one verdict, the right one. */
  @Property
  void oneVerdictEach(
      @ForAll @IntRange(min = 1, max = 400) int count, @ForAll boolean late, @ForAll long seed) {
    verdicts.clear();
    Random random = new Random(seed);
    ConfirmLedger ledger = written(late, count);
    Map<Long, @Nullable ParkedReason> expected = new HashMap<>();
    Set<Long> open = new HashSet<>(LongStream.rangeClosed(1, count).boxed().toList());
    while (!open.isEmpty()) {
      long sequence = open.stream().skip(random.nextInt(open.size())).findFirst().orElseThrow();
      boolean multiple = random.nextInt(10) == 0;
      boolean nack = random.nextInt(5) == 0;
      List<Long> answered =
          open.stream().filter(s -> multiple ? s <= sequence : s == sequence).sorted().toList();
      Set<Long> returned = new HashSet<>();
      answered.stream()
          .filter(s -> random.nextInt(4) == 0 && (nack || !late))
          .forEach(returned::add);
      answered.forEach(
          s ->
              expected.put(
                  s,
                  returned.contains(s)
                      ? ParkedReason.UNROUTABLE
                      : nack ? ParkedReason.REJECTED : null));
      if (!late) {
        returned.forEach(s -> ledger.returned("m" + s, "312"));
      }
      if (nack) {
        ledger.nacked(sequence, multiple, 0);
      } else {
        ledger.confirmed(sequence, multiple);
      }
      if (late) {
        returned.forEach(s -> ledger.returned("m" + s, "312"));
      }
      answered.forEach(open::remove);
    }
    ledger.expire(GRACE);
    Map<Long, @Nullable ParkedReason> actual = new HashMap<>();
    verdicts.forEach(v -> actual.put(v.seq(), v.refusal()));
    assertThat(verdicts).hasSize(count);
    assertThat(actual).isEqualTo(expected);
    assertThat(ledger.oldest()).isNull();
  }

  private ConfirmLedger written(boolean returnFollowsNack, int count) {
    ConfirmLedger ledger = new ConfirmLedger(returnFollowsNack, verdicts::add);
    IntStream.rangeClosed(1, count).forEach(n -> ledger.add(message(n)));
    return ledger;
  }

  private List<@Nullable ParkedReason> reasons() {
    List<@Nullable ParkedReason> reasons = new ArrayList<>();
    verdicts.forEach(v -> reasons.add(v.refusal()));
    return reasons;
  }

  private static Outgoing message(long n) {
    return new Outgoing(
        n, "m" + n, new OutboxRow.Route("", "q"), new BasicProperties(), new byte[0], true);
  }
}
