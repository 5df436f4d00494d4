package dev.fencepost.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.json.JsonArray;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CursorTest {

  @Test
  void aTimeComesBackAsItWas() {
    JsonArray key = Cursor.read(Cursor.of("2025-03-31T14:05:00.123456Z", 7), 2);

    assertThat(Cursor.time(key, 0)).isEqualTo(Instant.parse("2025-03-31T14:05:00.123456Z"));
  }

  /** The driver of the database would fail on it with a fault of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1000000000-12-31T23:59:59Z",
        "-1000000000-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
        "soon"
      })
  void aTimeThatTheDatabaseCannotHoldIsNotOurs(String time) {
    JsonArray key = new JsonArray().add(time).add(1);

    assertThatThrownBy(() -> Cursor.time(key, 0))
        .isInstanceOfSatisfying(
            FencepostException.class,
            e -> assertThat(e.kind()).isEqualTo(FailureKind.INVALID_INPUT));
  }
}
