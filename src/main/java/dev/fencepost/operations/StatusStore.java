package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/** Port: what the database knows of lanes and queues, at a cost that does not grow with them. */
public interface StatusStore {

  /** Rows of {@code relay_lanes}, by lane. */
  Future<List<ViewRow>> lanes();

  /**
   * The named consumers, and those that only the database knows (their configuration was removed).
   */
  Future<List<Status.QueueStatus>> queues(Set<String> configured);
}
