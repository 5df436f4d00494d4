package dev.fencepost.decide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.decide.RetryPolicy.Limits;
import dev.fencepost.decide.RetryPolicy.Verdict;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.FailureClass;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
  private static final Limits PLAIN =
      new Limits(3, Duration.ofSeconds(5), 2, Duration.ofHours(1), 0);

  @Test
  void decidesAsTheWholeTableSays() {
    List<Map<String, String>> rows = SpecCsv.rows("retry-policy.csv");
    assertThat(rows).hasSize(23);
    assertThat(rows).allSatisfy(RetryPolicyTest::check);
  }

  private static void check(Map<String, String> row) {
    Limits limits =
        new Limits(
            Integer.parseInt(row.get("max_retries")),
            Duration.ofSeconds(Long.parseLong(row.get("base_delay_s"))),
            Double.parseDouble(row.get("multiplier")),
            Duration.ofSeconds(Long.parseLong(row.get("max_delay_s"))),
            Double.parseDouble(row.get("jitter")));
    Verdict verdict =
        RetryPolicy.decide(
            FailureClass.ofWire(row.get("failure")),
            Integer.parseInt(row.get("retries_so_far")),
            limits,
            null,
            0.5);
    boolean retry = Boolean.parseBoolean(row.get("retry"));
    assertThat(Boolean.parseBoolean(row.get("dead_letter"))).isEqualTo(!retry);
    assertThat(verdict)
        .isEqualTo(
            retry
                ? new Verdict.Retry(Duration.ofSeconds(Long.parseLong(row.get("countdown_s"))))
                : new Verdict.DeadLetter(DeadLetterReason.ofWire(row.get("reason"))));
  }

  @Property
  void delaysNeverFallAndNeverPassTheCap(
      @ForAll("limits") Limits limits, @ForAll @IntRange(max = 5000) int n) {
    Limits steady = withJitter(limits, 0);
    Duration delay = RetryPolicy.delay(n, steady, 0);
    assertThat(delay).isBetween(Duration.ZERO, limits.maxDelay());
    assertThat(RetryPolicy.delay(n + 1, steady, 0)).isGreaterThanOrEqualTo(delay);
  }

  @Property
  void jitterTakesAwayAtMostItsPart(
      @ForAll("limits") Limits limits,
      @ForAll @IntRange(max = 5000) int n,
      @ForAll @DoubleRange(max = 1, maxIncluded = false) double random) {
    long full = RetryPolicy.delay(n, withJitter(limits, 0), 0).toMillis();
    long delay = RetryPolicy.delay(n, limits, random).toMillis();
    assertThat(delay).isLessThanOrEqualTo(full);
    assertThat((double) delay).isGreaterThanOrEqualTo(full * (1 - limits.jitter()) - 1);
    assertThat(RetryPolicy.delay(n, limits, random).toMillis()).isEqualTo(delay);
  }

  @Property
  void oneMoreRetryNeverMakesAnotherPossibleAgain(
      @ForAll("limits") Limits limits, @ForAll @IntRange(max = 5000) int retries) {
    boolean now = retries(limits, retries);
    boolean later = retries(limits, retries + 1);
    assertThat(later && !now).isFalse();
    assertThat(now).isEqualTo(retries < limits.maxRetries());
  }

  @Test
  void waitsAtLeastAsLongAsTheRemoteAsked() {
    assertThat(asked(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(5));
    assertThat(asked(Duration.ofSeconds(70))).isEqualTo(Duration.ofSeconds(70));
    assertThat(asked(Duration.ofHours(3))).isEqualTo(Duration.ofHours(3));
    assertThat(asked(Duration.ofDays(4000))).isEqualTo(Duration.ofDays(1));
  }

  @Test
  void refusesWhatIsNoFailure() {
    for (FailureClass none : List.of(FailureClass.UNKNOWN, FailureClass.INTERRUPTED)) {
      assertThatThrownBy(() -> RetryPolicy.decide(none, 0, PLAIN, null, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(none.wire());
    }
  }

  private static Duration asked(Duration asked) {
    return ((Verdict.Retry) RetryPolicy.decide(FailureClass.TRANSIENT, 0, PLAIN, asked, 0)).delay();
  }

  private static boolean retries(Limits limits, int retries) {
    return RetryPolicy.decide(FailureClass.TRANSIENT, retries, limits, null, 0)
        instanceof Verdict.Retry;
  }

  private static Limits withJitter(Limits l, double jitter) {
    return new Limits(l.maxRetries(), l.baseDelay(), l.multiplier(), l.maxDelay(), jitter);
  }

  @Provide
  Arbitrary<Limits> limits() {
    Arbitrary<Duration> base = Arbitraries.longs().between(1, 600_000).map(Duration::ofMillis);
    Arbitrary<Duration> max =
        Arbitraries.longs().between(1, 30L * 86_400_000).map(Duration::ofMillis);
    return Combinators.combine(
            Arbitraries.integers().between(0, 5000),
            base,
            Arbitraries.doubles().between(1, 1e6),
            max,
            Arbitraries.doubles().between(0, 1))
        .as(Limits::new);
  }
}
