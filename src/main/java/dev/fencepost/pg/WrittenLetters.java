package dev.fencepost.pg;

import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.worker.DeadLettered;
import io.vertx.sqlclient.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells of dead letters that nobody who asked for a statement is told of by its answer. A statement
 * names them in its rows: {@code dead_reason} (null where there is none), {@code dead_class},
 * {@code dead_message}, beside {@code consumer, event_id, type, attempts}.
 */
final class WrittenLetters {
  private Consumer<DeadLettered> told = letter -> {};

  void onDeadLetter(Consumer<DeadLettered> listener) {
    told = listener;
  }

  /** After the commit. */
  void tell(List<DeadLettered> letters) {
    letters.forEach(told);
  }

  void tell(Iterable<Row> rows) {
    List<DeadLettered> letters = new ArrayList<>();
    rows.forEach(row -> collect(row, letters));
    tell(letters);
  }

  static void collect(Row row, List<DeadLettered> letters) {
    DeadLettered letter = of(row);
    if (letter != null) {
      letters.add(letter);
    }
  }

  static @Nullable DeadLettered of(Row row) {
    String reason = row.getString("dead_reason");
    if (reason == null) {
      return null;
    }
    String errorClass = row.getString("dead_class");
    return new DeadLettered(
        ActivityRows.id(row),
        row.getString("type"),
        DeadLetterReason.ofWire(reason),
        row.getInteger("attempts"),
        errorClass == null ? null : new ErrorInfo(errorClass, row.getString("dead_message"), null));
  }
}
