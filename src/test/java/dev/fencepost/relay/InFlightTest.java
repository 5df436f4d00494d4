package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.OutboxRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A lane's window: whatever waits for what, it never closes for good. */
class InFlightTest {
  private static final int WINDOW = 10;

  private final InFlight rows = new InFlight(true);
  private final Batch batch =
      new Batch(
          new Cursor(Snapshot.of(10), 0, Map.of(), null, 0),
          new Cursor.Ahead(Snapshot.of(20), 1_000),
          0);
  private final List<Long> sent = new ArrayList<>();
  private long seqs;

  @Test
  void aRowThatWaitedForItsKeyGoesBeforeAllThatCameAfterIt() {
    admit("k", "a");
    admit("k", "b");
    for (int i = 0; i < 2 * WINDOW; i++) {
      admit(null, "free-" + i);
    }
    assertThat(settledInTheEnd()).hasSize(2 + 2 * WINDOW);
    assertThat(sent.indexOf(2L)).isLessThanOrEqualTo(WINDOW);
  }

  @Test
  void theHeadNeedsNoRoom() {
    admit("k", "a");
    admit("k", "same id");
    for (int i = 0; i < WINDOW - 2; i++) {
      admit(null, "free-" + i);
    }
    admit(null, "same id");
    for (int i = 0; i < WINDOW; i++) {
      admit(null, "later-" + i);
    }
    List<Held> out = send();
    // All are confirmed but the one that shares its id with the second.
    out.stream().filter(held -> !held.row.eventId().equals("same id")).forEach(this::confirm);
    checkpoint();
    out.addAll(send());
    assertThat(settledInTheEnd(out)).hasSize((int) seqs);
  }

  private List<Long> settledInTheEnd() {
    return settledInTheEnd(send());
  }

  /** Sends, confirms and appends checkpoints until nothing is out any more. */
  private List<Long> settledInTheEnd(List<Held> first) {
    List<Held> out = first;
    while (!out.isEmpty()) {
      out.stream().filter(held -> held.state == Held.State.SENT).forEach(this::confirm);
      checkpoint();
      out = send();
    }
    assertThat(rows.isEmpty()).as("all are settled").isTrue();
    return sent;
  }

  private void admit(@Nullable String key, String eventId) {
    long seq = ++seqs;
    OutboxRow row =
        new OutboxRow(
            new OutboxRow.Position(15, seq, 0),
            new OutboxRow.Route("", "q"),
            eventId,
            "t",
            key,
            new OutboxRow.Message(new byte[0], "text/plain", "{}", "{}"));
    rows.enqueue(rows.admit(row, batch));
  }

  private List<Held> send() {
    List<Held> out = new ArrayList<>();
    int room = WINDOW - rows.exposed();
    Held held;
    while ((held = rows.poll(room > 0)) != null) {
      if (!held.exposed) {
        room--;
      }
      rows.markSent(held, 0);
      sent.add(held.row.seq());
      out.add(held);
    }
    return out;
  }

  private void confirm(Held held) {
    Held answered = rows.answered(held.row.seq());
    assertThat(answered).isSameAs(held);
    rows.settle(held);
  }

  private void checkpoint() {
    rows.advance();
    rows.cover();
    rows.covered();
  }
}
