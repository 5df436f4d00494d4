package dev.fencepost.operations;

import dev.fencepost.model.ActivityState;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** Port: settles reviews. */
public interface ReviewStore {

  /**
   * Carries out the decision in one transaction: state, receipt or dead letter, audit entry.
   *
   * @return fails with NOT_FOUND when there is no such activity; with STALE when it is not in
   *     review, or its fence is another than the request's
   */
  Future<Resolution> resolve(ReviewRequest request);

  /**
   * What has become of the activity.
   *
   * @param state completed, dead or retry_scheduled
   */
  record Resolution(
      String consumer, String eventId, ActivityState state, long fence, long generation) {
    public JsonObject toJson() {
      return new JsonObject()
          .put("consumer", consumer)
          .put("event_id", eventId)
          .put("state", state.wire())
          .put("fence", fence)
          .put("generation", generation);
    }
  }
}
