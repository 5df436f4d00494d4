package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class RetryBudgetTest {
  private static final Duration TEN = Duration.ofSeconds(10);

  @Test
  void allowsAPartOfFirstStartsPlusAFloor() {
    assertThat(RetryBudget.available(1000, 0, 0.1, 0, TEN)).isEqualTo(100);
    assertThat(RetryBudget.available(1000, 70, 0.1, 0, TEN)).isEqualTo(30);
    assertThat(RetryBudget.available(0, 0, 0.1, 10, TEN)).isEqualTo(100);
    assertThat(RetryBudget.available(30, 0, 0.1, 0, TEN)).isEqualTo(3);
    assertThat(RetryBudget.available(0, 0, 0.1, 0, TEN)).isZero();
    assertThat(RetryBudget.available(5, 900, 0.1, 1, TEN)).isZero();
  }

  @Property
  void whatIsAdmittedNeverPassesTheBudget(
      @ForAll @LongRange(max = 1_000_000_000_000L) long first,
      @ForAll @LongRange(max = 1_000_000_000_000L) long retries,
      @ForAll @DoubleRange(max = 10) double ratio,
      @ForAll @DoubleRange(max = 1e6) double floor,
      @ForAll @IntRange(max = 100_000) int due) {
    long available = RetryBudget.available(first, retries, ratio, floor, TEN);
    int admitted = RetryBudget.admit(due, available);
    assertThat(admitted).isBetween(0, due);
    if (admitted > 0) {
      assertThat((double) (retries + admitted)).isLessThanOrEqualTo(ratio * first + floor * 10 + 1);
    }
    assertThat(RetryBudget.available(first, retries + 1, ratio, floor, TEN))
        .isLessThanOrEqualTo(available);
    assertThat(RetryBudget.available(first + 1, retries, ratio, floor, TEN))
        .isGreaterThanOrEqualTo(available);
  }
}
