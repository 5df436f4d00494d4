package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LeaseRulesTest {
  private static final long DAY = 86_400_000_000_000L;

  @Property
  void trustEndsBeforeTheDatabaseMayGiveTheLeaseAway(
      @ForAll long sent, @ForAll @LongRange(min = 1, max = 86_400_000) long ttlMillis) {
    Duration ttl = Duration.ofMillis(ttlMillis);
    Duration margin = LeaseRules.margin(ttl);
    assertThat(margin).isGreaterThan(Duration.ZERO).isLessThanOrEqualTo(ttl.dividedBy(2));
    long until = LeaseRules.trustUntil(sent, ttl, margin);
    long trusted = ttl.minus(margin).toNanos();
    assertThat(LeaseRules.trusted(sent + trusted - 1, until)).isTrue();
    assertThat(LeaseRules.trusted(sent + trusted, until)).isFalse();
    assertThat(LeaseRules.trusted(sent + ttl.toNanos(), until)).isFalse();
  }

  @Property
  void trustOnceLostStaysLost(
      @ForAll long sent,
      @ForAll @LongRange(max = DAY) long later,
      @ForAll @LongRange(max = DAY) long more) {
    long until = LeaseRules.trustUntil(sent, Duration.ofSeconds(10), Duration.ofSeconds(1));
    boolean now = LeaseRules.trusted(sent + later, until);
    assertThat(LeaseRules.trusted(sent + later + more, until) && !now).isFalse();
  }

  @Test
  void neverHappenedIsBelievedOnlyWhenNoCallCanStillBeInTheAir() {
    Duration hard = Duration.ofSeconds(20);
    Duration grace = Duration.ofSeconds(5);
    assertThat(LeaseRules.mayBelieveNeverHappened(Duration.ofSeconds(26), hard, grace, false))
        .isTrue();
    assertThat(LeaseRules.mayBelieveNeverHappened(Duration.ofSeconds(25), hard, grace, false))
        .isFalse();
    assertThat(LeaseRules.mayBelieveNeverHappened(Duration.ofSeconds(26), hard, grace, true))
        .isFalse();
    assertThat(LeaseRules.mayBelieveNeverHappened(null, hard, grace, false)).isFalse();
  }
}
