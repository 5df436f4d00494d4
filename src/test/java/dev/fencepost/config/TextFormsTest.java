package dev.fencepost.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextFormsTest {

  @Property
  void aDurationSurvivesBeingWrittenAndRead(
      @ForAll @LongRange(min = 0, max = 1_000_000_000_000_000L) long millis) {
    Duration duration = Duration.ofMillis(millis);
    assertThat(DurationText.parse(DurationText.format(duration))).contains(duration);
  }

  @Property
  void wholeUnitsOfADurationAreWrittenShort(@ForAll @LongRange(min = 1, max = 9_999) long days) {
    assertThat(DurationText.format(Duration.ofDays(days))).isEqualTo(days + "d");
  }

  @Property
  void aSizeSurvivesBeingWrittenAndRead(
      @ForAll @LongRange(min = 0, max = 100_000_000_000_000_000L) long bytes) {
    assertThat(SizeText.parse(SizeText.format(bytes))).isEqualTo(OptionalLong.of(bytes));
  }

  @Property
  void anyTextIsReadWithoutAnException(@ForAll String text) {
    DurationText.parse(text);
    SizeText.parse(text);
    SqlTemplate.parse(text);
    Redaction.value(text);
  }

  @ParameterizedTest
  @CsvSource({
    "250ms,250",
    "15s,15000",
    "10m,600000",
    "2h,7200000",
    "7d,604800000",
    "0s,0",
    "0090s,90000"
  })
  void durations(String text, long millis) {
    assertThat(DurationText.parse(text)).contains(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "15",
        "s",
        "-1s",
        "+1s",
        "1.5s",
        "15 s",
        "15S",
        "1w",
        "15sec",
        "1m30s",
        " 15s",
        "999999999999999999d",
        "99999999999999999999s",
        "١s"
      })
  void noDurations(String text) {
    assertThat(DurationText.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0B,0", "512B,512", "16KiB,16384", "8MiB,8388608", "2GiB,2147483648"})
  void sizes(String text, long bytes) {
    assertThat(SizeText.parse(text)).hasValue(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "16", "16KB", "16kib", "16 KiB", "-1B", "1.5MiB", "999999999999999999GiB"})
  void noSizes(String text) {
    assertThat(SizeText.parse(text)).isEmpty();
  }
}
