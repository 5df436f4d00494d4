package dev.fencepost.operations;

import io.vertx.core.json.JsonObject;
import java.time.Instant;

/** What a replay found or published. */
public record ReplayResult(boolean dryRun, long rows, Instant since, Instant until) {

  public static final String ORDER_NOTE =
      "replayed events follow newer events of their key; consumers recognise them by event id and "
          + "by the header fencepost-replay";

  public JsonObject toJson() {
    return new JsonObject()
        .put("dry_run", dryRun)
        .put("matched", rows)
        .put("replayed", dryRun ? 0 : rows)
        .put("since", since.toString())
        .put("until", until.toString())
        .put("note", ORDER_NOTE);
  }
}
