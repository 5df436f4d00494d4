package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ParkedReason;
import org.junit.jupiter.api.Test;

class RabbitErrorsTest {
  @Test
  void aClosureAccusesWhatWasPublished() {
    assertThat(RabbitErrors.refusal(311, false)).isEqualTo(ParkedReason.TOO_LARGE);
    assertThat(RabbitErrors.refusal(403, false)).isEqualTo(ParkedReason.ACCESS_REFUSED);
    assertThat(RabbitErrors.refusal(404, false)).isEqualTo(ParkedReason.EXCHANGE_MISSING);
    assertThat(RabbitErrors.refusal(406, false)).isEqualTo(ParkedReason.TOO_LARGE);
    assertThat(RabbitErrors.refusal(406, true)).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(RabbitErrors.refusal(501, false)).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(RabbitErrors.refusal(502, false)).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(RabbitErrors.refusal(530, false)).isEqualTo(ParkedReason.ACCESS_REFUSED);
  }

  @Test
  void transportFaultsAccuseNothing() {
    for (int code : new int[] {0, 200, 320, 504, 506, 541}) {
      assertThat(RabbitErrors.refusal(code, true)).as("reply code %d", code).isNull();
    }
  }
}
