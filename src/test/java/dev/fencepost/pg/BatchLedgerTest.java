package dev.fencepost.pg;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.worker.Claim;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BatchLedgerTest {
  private final BatchLedger ledger = new BatchLedger();

  private Claim.Ticket started(String event, long batch) {
    ActivityId id = new ActivityId("q", event);
    ledger.started(id, 1, batch);
    Claim.Work work = new Claim.Work("t", ActivityKind.PURE, 4, 3, Duration.ofSeconds(30));
    return new Claim.Ticket(id, work, 1, 1, 0, 1, true, false);
  }

  @Test
  void claimsOfOneMicrosecondAreTwoBatches() {
    Set<Long> tags = new HashSet<>();
    for (int i = 0; i < 1024; i++) {
      tags.add(ledger.tag());
    }
    assertThat(tags).as("as many as fit below a microsecond").hasSize(1024);
    assertThat(tags).allMatch(tag -> tag >= 0 && tag < 1024);
    long instant = 1_700_000_000_000_000L * 1024;
    Claim.Ticket one = started("e1", instant);
    Claim.Ticket two = started("e2", instant + 1);
    ledger.ended(one);
    assertThat(ledger.drain())
        .as("the other still runs")
        .containsExactly(new BatchLedger.Batch("q", instant));
    ledger.ended(two);
    assertThat(ledger.drain()).containsExactly(new BatchLedger.Batch("q", instant + 1));
  }

  @Test
  void tagsGoOnWhenTheirCounterOverflows() {
    for (int i = 0; i < 3_000; i++) {
      assertThat(ledger.tag()).isBetween(0L, 1023L);
    }
  }

  @Test
  void aBatchIsEmptyOnlyWhenAllOfItHaveEnded() {
    Claim.Ticket one = started("e1", 7);
    Claim.Ticket two = started("e2", 7);
    ledger.ended(one);
    ledger.ended(one);
    assertThat(ledger.drain()).isEmpty();
    ledger.ended(two);
    assertThat(ledger.drain()).hasSize(1);
  }

  @Test
  void aBatchOfWhichSomethingIsUnknownIsLeftToTheSweep() {
    Claim.Ticket one = started("e1", 7);
    Claim.Ticket two = started("e2", 7);
    ledger.lost(one);
    ledger.ended(two);
    assertThat(ledger.drain()).isEmpty();
  }
}
