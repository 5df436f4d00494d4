package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ConfigLoader;
import dev.fencepost.model.LagCause;
import dev.fencepost.operations.Readiness;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RelayProgressTest {
  private final RelayProgress progress =
      new RelayProgress(
          Telemetry.of(ConfigLoader.parse("metrics: {jmx: false}", Map.of())).relay());

  @ParameterizedTest
  @EnumSource(
      value = LagCause.class,
      names = {"BROKER_DOWN", "BROKER_BLOCKED", "PARKED_FULL"})
  void whatALaneOfOthersWaitsForIsNotItsConcern(LagCause cause) {
    progress.lanesOwned(Set.of(1, 5));
    progress.lag(1, Duration.ZERO, LagCause.NONE);
    progress.lag(5, Duration.ofSeconds(3), cause);
    assertThat(progress.standstill()).map(Readiness.Reason::code).contains(cause.wire());

    progress.lanesOwned(Set.of(1));
    assertThat(progress.standstill()).isEmpty();
  }

  @Test
  void aLaneOfItsOwnIsNotForgotten() {
    progress.lanesOwned(Set.of(1, 5));
    progress.lag(5, Duration.ofSeconds(3), LagCause.BROKER_DOWN);
    progress.lanesOwned(Set.of(5));

    assertThat(progress.standstill()).isPresent();
  }
}
