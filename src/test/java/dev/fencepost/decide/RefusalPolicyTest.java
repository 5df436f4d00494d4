package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ParkedReason;
import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RefusalPolicyTest {
  @Test
  void aPreconditionThatNoPropertyCanHaveFailedIsTheSize() {
    assertThat(RefusalPolicy.convicted(ParkedReason.INVALID_PROPERTY, false))
        .isEqualTo(ParkedReason.TOO_LARGE);
    assertThat(RefusalPolicy.convicted(ParkedReason.INVALID_PROPERTY, true))
        .isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(RefusalPolicy.convicted(ParkedReason.EXCHANGE_MISSING, false))
        .isEqualTo(ParkedReason.EXCHANGE_MISSING);
  }

  @Property
  void backoffRisesToItsCapAndStays(@ForAll @IntRange(min = 1, max = 100_000) int attempts) {
    Duration base = Duration.ofSeconds(1);
    Duration max = Duration.ofMinutes(5);
    Duration delay = RefusalPolicy.backoff(attempts, base, max);
    assertThat(delay).isBetween(base, max);
    assertThat(RefusalPolicy.backoff(attempts + 1, base, max)).isGreaterThanOrEqualTo(delay);
    assertThat(RefusalPolicy.backoff(Integer.MAX_VALUE, base, max)).isEqualTo(max);
  }
}
