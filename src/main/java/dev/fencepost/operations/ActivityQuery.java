package dev.fencepost.operations;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;

/** Use case: what happened to an event. */
public final class ActivityQuery {
  private final HistoryStore store;

  public ActivityQuery(HistoryStore store) {
    this.store = store;
  }

  public Future<Page<ViewRow>> list(ActivityFilter filter, Page.Request page) {
    return store.list(filter, page);
  }

  /**
   * @return fails with NOT_FOUND when nothing is known of the event
   */
  public Future<ActivityHistory> show(String consumer, String eventId) {
    String who = Input.name("consumer", consumer);
    String what = Input.name("event_id", eventId);
    return store
        .history(who, what)
        .compose(
            found ->
                found.isEmpty()
                    ? Future.failedFuture(
                        new FencepostException(
                            FailureKind.NOT_FOUND, "consumer " + who + " knows no event " + what))
                    : Future.succeededFuture(found));
  }
}
