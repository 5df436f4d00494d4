package dev.fencepost.boot;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.pg.Durability;
import dev.fencepost.pg.PgDatabase;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What a worker says when it starts, because it cannot be refused. */
final class StartWarnings {
  private StartWarnings() {}

  /**
   * Types that must not be repeated, on a database that may forget their starts.
   *
   * @param warn is given each warning; a database that does not answer is no reason for one
   */
  static Future<Void> durability(
      FencepostConfig config, PgDatabase database, Consumer<String> warn) {
    List<String> types = unrepeatable(config);
    if (types.isEmpty()) {
      return Future.succeededFuture();
    }
    return Durability.faults(database, config.database().uris().size())
        .map(
            faults -> {
              for (String fault : faults) {
                warn.accept(
                    "types that must not be repeated ("
                        + String.join(", ", types)
                        + ") may be: "
                        + fault);
              }
              return null;
            });
  }

  /** As {@code queue/type}. A start of other kinds that is forgotten is repeated as it may be. */
  private static List<String> unrepeatable(FencepostConfig config) {
    List<String> types = new ArrayList<>();
    for (QueueConfig queue : config.queues().values()) {
      for (ActivityConfig activity : queue.activities().values()) {
        ActivityKind kind = activity.kind();
        if (kind == ActivityKind.IRREVERSIBLE || kind == ActivityKind.QUERYABLE) {
          types.add(queue.name() + "/" + activity.type());
        }
      }
    }
    return types;
  }
}
