package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Port: dead letters to read. Bodies in lists are cut to a preview. */
public interface DeadLetterStore {

  /** The newest first; each row has {@code body_size} and {@code body_truncated} too. */
  Future<Page<ViewRow>> list(DeadLetterFilter filter, Page.Request page);

  /**
   * The oldest first, from {@code after} (exclusive) to {@code last} (inclusive), without bodies.
   */
  Future<List<ViewRow>> between(DeadLetterFilter filter, long after, long last, int limit);

  /** Those of these ids that exist, without bodies. */
  Future<List<ViewRow>> byIds(List<Long> ids);

  /** The newest id; 0 when there is none. */
  Future<Long> newestId();

  /** The whole dead letter, or null. */
  Future<@Nullable ViewRow> find(long id);
}
