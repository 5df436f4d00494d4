package dev.fencepost.operations;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What came of a request over many items, item by item.
 *
 * @param more the request reached its limit with matching items left
 * @param stopped why it ended early, or null
 */
public record BulkResult(boolean dryRun, List<Item> items, boolean more, @Nullable String stopped) {

  /** What came of one item. */
  public enum Outcome {
    WOULD_REDRIVE(false),
    WOULD_DISCARD(false),
    REDRIVEN(false),
    DISCARDED(false),
    /** The relay's owner of the lane carries it out. */
    REQUESTED(false),
    /** It had been done before. */
    UNCHANGED(false),
    NOT_FOUND(true),
    FAILED(true);

    private final boolean failure;

    Outcome(boolean failure) {
      this.failure = failure;
    }

    public boolean failure() {
      return failure;
    }

    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * @param id the dead letter's id, or the parked row's seq
   * @param what whose it is: consumer and event id, or lane and key; may be empty
   */
  public record Item(long id, ViewRow what, Outcome outcome, @Nullable String detail) {
    public JsonObject toJson() {
      JsonObject json = new JsonObject().put("id", id).mergeIn(what.toJson());
      return json.put("outcome", outcome.wire()).put("detail", detail);
    }
  }

  public long failed() {
    return items.stream().filter(item -> item.outcome().failure()).count();
  }

  public long changed() {
    return items.stream()
        .filter(item -> !item.outcome.failure() && item.outcome != Outcome.UNCHANGED)
        .count();
  }

  /** Whether every item was done. */
  public boolean ok() {
    return stopped == null && failed() == 0;
  }

  public JsonObject toJson() {
    JsonArray array = new JsonArray();
    items.forEach(item -> array.add(item.toJson()));
    return new JsonObject()
        .put("dry_run", dryRun)
        .put("matched", items.size())
        .put("changed", dryRun ? 0 : changed())
        .put("failed", failed())
        .put("more", more)
        .put("stopped", stopped)
        .put("items", array);
  }
}
