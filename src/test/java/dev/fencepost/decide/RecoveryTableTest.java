package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.WithNull;
import org.junit.jupiter.api.Test;

class RecoveryTableTest {
  @Test
  void decidesAsTheWholeTableSays() {
    List<Map<String, String>> rows = SpecCsv.rows("recovery-table.csv");
    assertThat(rows).hasSize(72);
    assertThat(rows)
        .allSatisfy(row -> assertThat(decide(row).wire()).isEqualTo(row.get("decision")));
  }

  private static RecoveryDecision decide(Map<String, String> row) {
    String receipt = row.get("receipt");
    return RecoveryTable.decide(
        Boolean.parseBoolean(row.get("lease_expired")),
        receipt.equals("none") ? null : ReceiptOutcome.ofWire(receipt),
        Boolean.parseBoolean(row.get("retry_safe")),
        Integer.parseInt(row.get("attempts")),
        Integer.parseInt(row.get("max_attempts")));
  }

  @Property
  void isTotalAndDeterministic(
      @ForAll boolean expired,
      @ForAll @WithNull ReceiptOutcome receipt,
      @ForAll boolean safe,
      @ForAll int attempts,
      @ForAll int max) {
    RecoveryDecision first = RecoveryTable.decide(expired, receipt, safe, attempts, max);
    assertThat(first).isNotNull();
    assertThat(RecoveryTable.decide(expired, receipt, safe, attempts, max)).isEqualTo(first);
  }

  @Property
  void oneMoreStartNeverMakesARetryPossibleAgain(
      @ForAll @WithNull ReceiptOutcome receipt,
      @ForAll boolean safe,
      @ForAll @IntRange(max = 1000) int attempts,
      @ForAll @IntRange(min = 1, max = 1000) int max) {
    RecoveryDecision now = RecoveryTable.decide(true, receipt, safe, attempts, max);
    RecoveryDecision later = RecoveryTable.decide(true, receipt, safe, attempts + 1, max);
    if (now == RecoveryDecision.RETRY_SAME_ACTIVITY) {
      assertThat(later).isIn(RecoveryDecision.RETRY_SAME_ACTIVITY, RecoveryDecision.EXHAUSTED);
    } else {
      assertThat(later).isEqualTo(now);
    }
  }

  @Property
  void whatMayNotBeRepeatedIsNeverRepeatedHoweverOftenItIsAsked(
      @ForAll boolean expired, @ForAll int attempts, @ForAll int max) {
    assertThat(RecoveryTable.decide(expired, null, false, attempts, max))
        .isIn(RecoveryDecision.WAIT, RecoveryDecision.MANUAL_REVIEW);
  }

  @Property
  void aReceiptIsStrongerThanAnyCount(@ForAll boolean safe, @ForAll int attempts, @ForAll int max) {
    assertThat(RecoveryTable.decide(true, ReceiptOutcome.SUCCEEDED, safe, attempts, max))
        .isEqualTo(RecoveryDecision.RECORD_COMPLETION);
    assertThat(RecoveryTable.decide(true, ReceiptOutcome.FAILED_PERMANENT, safe, attempts, max))
        .isEqualTo(RecoveryDecision.RECORD_FAILURE);
  }
}
