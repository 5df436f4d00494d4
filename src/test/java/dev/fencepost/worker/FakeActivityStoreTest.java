package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/** The store that the loops are tested with keeps the same promises as the real one. */
class FakeActivityStoreTest extends ActivityStoreContract {
  private long now = 1_000_000_000_000L;
  private final FakeActivityStore store = new FakeActivityStore(() -> now);

  @Override
  protected ActivityStore store() {
    return store;
  }

  @Override
  protected void elapse(Duration time) {
    now += time.toNanos();
  }

  @Override
  protected Seen seen(ActivityId id) {
    FakeActivityStore.Row row = store.rows.get(id);
    return row == null
        ? null
        : new Seen(
            row.state,
            row.attempts,
            row.retries,
            row.redeliveries,
            row.fence,
            row.awaiting,
            row.receipt,
            store.attempts.stream()
                .filter(a -> a.id().equals(id))
                .sorted(Comparator.comparingLong(FakeActivityStore.Attempt::fence))
                .map(FakeActivityStore.Attempt::outcome)
                .toList(),
            deadLetters(id),
            store.log.stream()
                .filter(line -> line.id().equals(id))
                .map(FakeActivityStore.Line::action)
                .toList());
  }

  @Override
  protected String stored(ActivityId id) {
    StringBuilder all = new StringBuilder();
    for (Field field : FakeActivityStore.Row.class.getFields()) {
      try {
        Object value = field.get(store.rows.get(id));
        all.append(field.getName()).append('=').append(value).append('\n');
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(e);
      }
    }
    store.attempts.stream().filter(a -> a.id().equals(id)).forEach(all::append);
    return all.append(deadLetters(id)).toString();
  }

  private List<Seen.Dead> deadLetters(ActivityId id) {
    return store.deadLetters.stream()
        .filter(d -> d.id().equals(id))
        .map(
            d ->
                new Seen.Dead(
                    d.reason(),
                    d.attempts(),
                    new String(d.message().body(), StandardCharsets.UTF_8)))
        .toList();
  }
}
