package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.OutboxRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Order per key. */
final class Orders {
  private Orders() {}

  static void assertOrderedPerKey(List<OutboxRow> rows) {
    Map<String, Long> last = new HashMap<>();
    for (OutboxRow row : rows) {
      if (row.key() != null) {
        Long before = last.put(row.key(), row.seq());
        assertThat(before == null || before < row.seq())
            .as("key %s: %s then %s", row.key(), before, row.seq())
            .isTrue();
      }
    }
  }
}
