package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the next event of a key go on once the one before it has ended. A statement of its own after
 * that commit: it must see what the commit made visible. What it misses (an event that is stored at
 * that very moment) the sweep finds.
 */
final class KeyReleases {
  private static final Logger LOG = LoggerFactory.getLogger(KeyReleases.class);

  private final DurableWork work;
  private final Consumer<String> released;
  private final String statement;

  /**
   * @param released is told of each consumer of which an event is due now
   */
  KeyReleases(DurableWork work, Consumer<String> released) {
    this.work = work;
    this.released = released;
    this.statement = work.sql(SettleSql.RELEASE);
  }

  /** The keys of a group that has ended. */
  static final class Keys {
    private final List<String> consumers = new ArrayList<>();
    private final List<String> keys = new ArrayList<>();

    void ended(ActivityId id, @Nullable String key) {
      if (key != null) {
        consumers.add(id.consumer());
        keys.add(key);
      }
    }
  }

  /** Never fails: what has been committed stays so, and the sweep releases again. */
  <T> Future<T> after(T result, Keys ended) {
    if (ended.keys.isEmpty()) {
      return Future.succeededFuture(result);
    }
    Columns<String> columns =
        new Columns<>(List.<String>of())
            .value(ended.consumers.toArray(String[]::new))
            .value(ended.keys.toArray(String[]::new));
    return work.execute(statement, columns.tuple())
        .map(
            rows -> {
              Set<String> consumers = new HashSet<>();
              rows.forEach(row -> consumers.add(row.getString("consumer")));
              consumers.forEach(released);
              return result;
            })
        .recover(
            e -> {
              LOG.warn("events behind {} wait for the sweep: {}", ended.keys, e.getMessage());
              return Future.succeededFuture(result);
            });
  }
}
