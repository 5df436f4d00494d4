package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RowEncoderTest {
  private static final Instant WRITTEN = Instant.parse("2024-02-03T04:05:06Z");
  private final RowEncoder encoder = new RowEncoder(1 << 20, 131_072);

  @Test
  void theTimestampIsWhenTheRowWasWritten() throws RefusedRow {
    assertThat(encoder.encode(row(WRITTEN)).properties.getTimestamp())
        .isEqualTo(Date.from(WRITTEN));
    assertThat(encoder.encode(row(null)).properties.getTimestamp()).isNull();
  }

  private static OutboxRow row(@Nullable Instant written) {
    return new OutboxRow(
        new OutboxRow.Position(1, 1, 0),
        new OutboxRow.Route("x", "r"),
        "e",
        "t",
        null,
        new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}", written));
  }

  /** Parked: it would be read again for ever otherwise. */
  @Test
  @SuppressWarnings("NullAway")
  void whatWeFailToEncodeIsRefused() {
    OutboxRow row =
        new OutboxRow(
            new OutboxRow.Position(1, 1, 0),
            null,
            "e",
            "t",
            null,
            new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));

    RefusedRow refused = catchThrowableOfType(RefusedRow.class, () -> encoder.encode(row));
    assertThat(refused.reason()).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(refused.detail()).startsWith("cannot be encoded: ");
  }
}
