package dev.fencepost.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.util.Date;
import org.junit.jupiter.api.Test;

class RowEncoderTest {
  private final RowEncoder encoder = new RowEncoder(1 << 20, 131_072);

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

    RefusedRow refused =
        catchThrowableOfType(RefusedRow.class, () -> encoder.encode(row, new Date(0)));
    assertThat(refused.reason()).isEqualTo(ParkedReason.INVALID_PROPERTY);
    assertThat(refused.detail()).startsWith("cannot be encoded: ");
  }
}
