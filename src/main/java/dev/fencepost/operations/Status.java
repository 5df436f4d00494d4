package dev.fencepost.operations;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where everything stands.
 *
 * @param lanes rows of {@code relay_lanes}, by lane
 */
public record Status(List<ViewRow> lanes, List<QueueStatus> queues) {

  /**
   * One consumer's work as the database knows it, over all processes.
   *
   * @param oldestExpiredLease how long the oldest lease is over that nobody has decided about yet;
   *     null when there is none
   */
  public record QueueStatus(
      String consumer, Waiting waiting, Ended ended, @Nullable Duration oldestExpiredLease) {
    public QueueStatus(String consumer, Waiting waiting, Ended ended) {
      this(consumer, waiting, ended, null);
    }

    /**
     * @param inFlight runs that hold a lease
     * @param dueRetries retries whose time has come
     * @param scheduledRetries retries whose time has not come
     * @param blocked behind an event of their key that waits
     */
    public record Waiting(
        BoundedCount inFlight,
        BoundedCount dueRetries,
        BoundedCount scheduledRetries,
        BoundedCount blocked) {}

    /** What waits for people. */
    public record Ended(
        BoundedCount reviews, BoundedCount unresolved, BoundedCount openDeadLetters) {}

    JsonObject toJson() {
      JsonObject json = new JsonObject().put("consumer", consumer);
      JsonArray atLeast = new JsonArray();
      put(json, atLeast, "in_flight", waiting.inFlight);
      put(json, atLeast, "due_retries", waiting.dueRetries);
      put(json, atLeast, "scheduled_retries", waiting.scheduledRetries);
      put(json, atLeast, "blocked", waiting.blocked);
      put(json, atLeast, "reviews", ended.reviews);
      put(json, atLeast, "unresolved", ended.unresolved);
      put(json, atLeast, "dead_letters", ended.openDeadLetters);
      json.put(
          "oldest_expired_lease_age_seconds",
          oldestExpiredLease == null ? null : oldestExpiredLease.toMillis() / 1_000.0);
      return json.put("at_least", atLeast);
    }

    private static void put(JsonObject json, JsonArray atLeast, String name, BoundedCount count) {
      json.put(name, count.value());
      if (count.more()) {
        atLeast.add(name);
      }
    }
  }

  /** {@code at_least} of a queue names the counts that stopped at the bound. */
  public JsonObject toJson() {
    JsonArray laneRows = new JsonArray();
    lanes.forEach(lane -> laneRows.add(lane.toJson()));
    JsonArray queueRows = new JsonArray();
    queues.forEach(queue -> queueRows.add(queue.toJson()));
    return new JsonObject().put("lanes", laneRows).put("queues", queueRows);
  }
}
