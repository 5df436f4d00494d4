package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RelapsesTest {
  private long now = 1;
  private final Relapses relapses = new Relapses(() -> now);

  private void pass(long seconds) {
    now += TimeUnit.SECONDS.toNanos(seconds);
  }

  @Test
  void aLaneRestsLongerEachTimeThatItFails() {
    relapses.failed(3);
    assertThat(relapses.resting()).containsExactly(3);
    pass(1);
    assertThat(relapses.resting()).isEmpty();
    relapses.failed(3);
    pass(1);
    assertThat(relapses.resting()).containsExactly(3);
    pass(1);
    assertThat(relapses.resting()).isEmpty();
  }

  @Test
  void aMinuteAtMost() {
    for (int i = 0; i < 40; i++) {
      relapses.failed(3);
    }
    pass(59);
    assertThat(relapses.resting()).containsExactly(3);
    pass(1);
    assertThat(relapses.resting()).isEmpty();
  }

  @Test
  void oneThatRanForLongBeginsAnew() {
    relapses.failed(3);
    relapses.failed(3);
    pass(600);
    relapses.failed(3);
    pass(1);
    assertThat(relapses.resting()).isEmpty();
  }
}
