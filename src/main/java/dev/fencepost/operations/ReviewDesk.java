package dev.fencepost.operations;

import dev.fencepost.model.ActivityState;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Use case: what only people may decide. */
public final class ReviewDesk {
  private final HistoryStore history;
  private final ReviewStore reviews;

  public ReviewDesk(HistoryStore history, ReviewStore reviews) {
    this.history = history;
    this.reviews = reviews;
  }

  /** Activities in review. */
  public Future<Page<ViewRow>> list(
      @Nullable String consumer, @Nullable String type, Page.Request page) {
    return history.list(
        new ActivityFilter(
            Input.optional("consumer", consumer),
            Input.optional("type", type),
            ActivityState.MANUAL_REVIEW),
        page);
  }

  /** The evidence that is there: attempts, progress, late results in the audit log. */
  public Future<ActivityHistory> show(String consumer, String eventId) {
    return new ActivityQuery(history).show(consumer, eventId);
  }

  public Future<ReviewStore.Resolution> resolve(ReviewRequest request) {
    return reviews.resolve(request);
  }
}
