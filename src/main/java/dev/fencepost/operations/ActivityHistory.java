package dev.fencepost.operations;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is known of one event at one consumer; each list in order of time.
 *
 * @param activity null where there is none: a message that could not be read leaves only a dead
 *     letter
 */
public record ActivityHistory(
    @Nullable ViewRow activity,
    List<ViewRow> attempts,
    List<ViewRow> receipts,
    List<ViewRow> audit,
    List<ViewRow> deadLetters) {

  /** One thing that happened. */
  public record Moment(Instant at, String what, String detail) {}

  public boolean isEmpty() {
    return activity == null
        && attempts.isEmpty()
        && receipts.isEmpty()
        && audit.isEmpty()
        && deadLetters.isEmpty();
  }

  /** All of it merged, in order of time. */
  public List<Moment> timeline() {
    List<Moment> moments = new ArrayList<>();
    if (activity != null) {
      add(moments, activity, "first_seen_at", "first seen", "type=" + activity.text("type"));
    }
    for (ViewRow a : attempts) {
      String run = "fence=" + a.text("fence") + " worker=" + a.text("worker");
      add(moments, a, "started_at", "attempt started", run + redelivered(a));
      add(moments, a, "ended_at", "attempt " + a.textOrEmpty("outcome"), run + error(a));
    }
    for (ViewRow r : receipts) {
      add(moments, r, "recorded_at", "receipt " + r.text("outcome"), "fence=" + r.text("fence"));
    }
    for (ViewRow d : deadLetters) {
      add(
          moments,
          d,
          "dead_at",
          "dead letter " + d.text("reason"),
          "id=" + d.text("id") + error(d));
    }
    for (ViewRow a : audit) {
      add(moments, a, "at", a.textOrEmpty("action"), audited(a));
    }
    moments.sort(Comparator.comparing(Moment::at));
    return moments;
  }

  private static void add(
      List<Moment> moments, ViewRow row, String column, String what, String detail) {
    Instant at = row.instant(column);
    if (at != null) {
      moments.add(new Moment(at, what, detail));
    }
  }

  private static String redelivered(ViewRow attempt) {
    return Boolean.TRUE.equals(attempt.columns().get("redelivered")) ? " redelivered" : "";
  }

  private static String error(ViewRow row) {
    String type = row.text("error_class");
    String message = row.text("error_message");
    return (type == null ? "" : " " + type) + (message == null ? "" : ": " + message);
  }

  private static String audited(ViewRow row) {
    StringBuilder text = new StringBuilder("by ").append(row.text("actor"));
    for (String column : List.of("fence", "evidence", "detail")) {
      String value = row.text(column);
      if (value != null && !value.isEmpty() && !"{}".equals(value)) {
        text.append(' ').append(column).append('=').append(value);
      }
    }
    return text.toString();
  }

  public JsonObject toJson() {
    JsonArray moments = new JsonArray();
    timeline()
        .forEach(
            m ->
                moments.add(
                    new JsonObject()
                        .put("at", m.at.toString())
                        .put("what", m.what)
                        .put("detail", m.detail.strip())));
    JsonObject json = activity == null ? new JsonObject() : activity.toJson();
    return json.put("attempts_log", array(attempts))
        .put("receipts", array(receipts))
        .put("audit_log", array(audit))
        .put("dead_letters", array(deadLetters))
        .put("timeline", moments);
  }

  private static JsonArray array(List<ViewRow> rows) {
    JsonArray array = new JsonArray();
    rows.forEach(row -> array.add(row.toJson()));
    return array;
  }
}
