package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long the relay rests after a look at the outbox, in milliseconds. */
class RelayPauseTest {
  @ParameterizedTest
  @CsvSource({"2, 0, 2", "2, 1, 1", "2, 2, 0", "2, 3, 1", "2, 4, 2", "2, 20, 10", "250, 1, 249"})
  void itsPauseBeginsWithTheLookAndALongOneHasARest(long pause, long look, long rest) {
    assertThat(RelayLoop.left(Duration.ofMillis(pause), Duration.ofMillis(look)))
        .isEqualTo(Duration.ofMillis(rest));
  }
}
