package dev.fencepost.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InputTest {
  private static final Instant NOW = Instant.parse("2025-03-31T12:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "2025-03-31T14:05:00Z, 2025-03-31T14:05:00Z",
    "2025-03-31T14:05:00+02:00, 2025-03-31T12:05:00Z",
    "2025-03-31T14:05:00-03:30, 2025-03-31T17:35:00Z",
    "2025-03-31 14:05:00, 2025-03-31T14:05:00Z",
    "2025-03-31T14:05, 2025-03-31T14:05:00Z",
    "2025-03-31T14:05:00.250Z, 2025-03-31T14:05:00.250Z",
    "2025-03-31, 2025-03-31T00:00:00Z",
    "15m, 2025-03-31T11:45:00Z",
    "2h, 2025-03-31T10:00:00Z",
    "7d, 2025-03-24T12:00:00Z",
    "250ms, 2025-03-31T11:59:59.750Z"
  })
  void timesAreReadInEveryUsualForm(String entered, Instant meant) {
    assertThat(Input.time("since", entered, NOW)).isEqualTo(meant);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "yesterday",
        "2025-13-01",
        "2025-03-31T25:00:00Z",
        "10",
        "-5m",
        "5 m",
        "999999999d",
        "+12000-01-01T00:00:00Z"
      })
  void whatIsNoTimeIsRefusedWithExamples(String entered) {
    assertThatThrownBy(() -> Input.time("since", entered, NOW))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.INVALID_INPUT))
        .hasMessageContaining("since: \"" + entered + "\"")
        .hasMessageContaining("2025-03-31T14:05:00Z");
  }

  @Test
  void choicesNameFieldValueAndWhatIsAllowed() {
    assertThat(Input.choice("state", "manual_review", ActivityState.class))
        .isEqualTo(ActivityState.MANUAL_REVIEW);
    assertThat(Input.choice("state", null, ActivityState.class)).isNull();
    assertThatThrownBy(() -> Input.choice("state", "stuck", ActivityState.class))
        .hasMessage(
            "state: \"stuck\" is not allowed; use one of running, retry_scheduled, blocked,"
                + " completed, dead, manual_review, unresolved");
  }

  @Test
  void namesAreBoundedAndStorable() {
    assertThatThrownBy(() -> Input.name("consumer", " ")).hasMessageContaining("is missing");
    assertThatThrownBy(() -> Input.name("consumer", "x".repeat(1025)))
        .hasMessageContaining("at most 1024 characters")
        .hasMessageContaining("xxx…");
    assertThatThrownBy(() -> Input.name("consumer", "a\0b")).hasMessageContaining("without NUL");
  }

  /** AMQP's short strings hold 255 bytes; beyond, the row would only be parked once more. */
  @Test
  void aRedirectGoesToWhatAmqpCanCarry() {
    new ParkedRequest.Target("x".repeat(255), "é".repeat(127));
    new ParkedRequest.Target("", null);
    assertThatThrownBy(() -> new ParkedRequest.Target("x".repeat(256), null))
        .hasMessageContaining("exchange: \"xxx")
        .hasMessageContaining("at most 255 bytes of UTF-8");
    assertThatThrownBy(() -> new ParkedRequest.Target("x", "é".repeat(128)))
        .hasMessageContaining("routing_key: \"ééé")
        .hasMessageContaining("at most 255 bytes of UTF-8");
    assertThatThrownBy(() -> new ParkedRequest.Target("a\0b", null))
        .hasMessage("exchange: \"a?b\" is not allowed; use text without NUL");
    assertThatThrownBy(() -> new ParkedRequest.Target("x", "a\0b"))
        .hasMessage("routing_key: \"a?b\" is not allowed; use text without NUL");
  }

  @Test
  void cursorsOfOthersAreRefused() {
    assertThatThrownBy(() -> Cursor.text(Cursor.read(Cursor.of("a\0b"), 1), 0))
        .hasMessageContaining("after");
    assertThat(Cursor.read(Cursor.of("a", 7L), 2).getLong(1)).isEqualTo(7);
    assertThatThrownBy(() -> Cursor.read("???", 1)).hasMessageContaining("after");
    assertThatThrownBy(() -> Cursor.read(Cursor.of("a"), 2)).hasMessageContaining("after");
    assertThatThrownBy(() -> Cursor.number(Cursor.read(Cursor.of("a"), 1), 0))
        .hasMessageContaining("after");
  }

  @Test
  void pagesAreBounded() {
    assertThatThrownBy(() -> new Page.Request(0, null)).hasMessageContaining("1 to 1000");
    assertThatThrownBy(() -> new Page.Request(1001, null)).hasMessageContaining("1 to 1000");
  }
}
