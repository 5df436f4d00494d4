package dev.fencepost.operations;

import io.vertx.core.Future;

/** Port: activities and their records. */
public interface HistoryStore {

  /** Rows of {@code activities} by consumer and event id. */
  Future<Page<ViewRow>> list(ActivityFilter filter, Page.Request page);

  /** Empty when nothing is known of the event. */
  Future<ActivityHistory> history(String consumer, String eventId);
}
