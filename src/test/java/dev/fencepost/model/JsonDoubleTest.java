package dev.fencepost.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonDoubleTest {
  @ParameterizedTest
  @ValueSource(
      doubles = {
        0,
        -1,
        1.5,
        9_999_999,
        1e7,
        -1e7,
        12_345_678,
        12_345_678.5,
        0x1p53,
        0x1p63,
        1e19,
        1e-7,
        Double.MAX_VALUE,
        Double.MIN_VALUE
      })
  void staysTheNumberItIsAndHasAPointWithoutAnExponent(double value) {
    Number written = JsonDouble.pointed(value);
    assertThat(written.doubleValue()).isEqualTo(value);
    // As jsonb prints it.
    String printed = new BigDecimal(written.toString()).toPlainString();
    assertThat(printed).contains(".");
    assertThat(Double.parseDouble(printed)).isEqualTo(value);
  }

  @Test
  void whatJsonLacksIsRefused() {
    for (double none : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> JsonDouble.pointed(none))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Double.toString(none));
    }
  }
}
