package dev.fencepost.admin;

import dev.fencepost.operations.ActivityFilter;
import dev.fencepost.operations.ActivityHistory;
import dev.fencepost.operations.AuditFilter;
import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.Input;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.Page;
import dev.fencepost.operations.ParkedFilter;
import dev.fencepost.operations.Status;
import dev.fencepost.operations.TimeSpan;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What can be looked at. */
final class ReadRoutes {
  private static final int DEADLINE_SECONDS = 10;
  private static final int PAGE = 50;

  private final Operations operations;
  private final LiveMetrics live;

  ReadRoutes(Operations operations, LiveMetrics live) {
    this.operations = operations;
    this.live = live;
  }

  void mount(Router router) {
    router.get("/api/v1/status").handler(this::status);
    router.get("/api/v1/activities").handler(this::activities);
    router.get("/api/v1/activities/:consumer/:eventId").handler(this::activity);
    router.get("/api/v1/reviews").handler(this::reviews);
    router.get("/api/v1/reviews/:consumer/:eventId").handler(this::activity);
    router.get("/api/v1/dead-letters").handler(this::deadLetters);
    router.get("/api/v1/dead-letters/:id").handler(this::deadLetter);
    router.get("/api/v1/parked").handler(this::parked);
    router.get("/api/v1/audit").handler(this::audit);
  }

  private void status(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> operations.status().status(),
        (Status status) -> status.toJson().put("live", samples()));
  }

  /** Counters of this process only: who asks twice can tell rates. */
  private JsonObject samples() {
    JsonArray array = new JsonArray();
    for (LiveMetrics.Sample sample : live.samples()) {
      JsonObject labels = new JsonObject();
      sample.labels().forEach(labels::put);
      array.add(
          new JsonObject()
              .put("name", sample.name())
              .put("labels", labels)
              .put("value", Double.isFinite(sample.value()) ? sample.value() : null));
    }
    return new JsonObject().put("at", Instant.now().toString()).put("samples", array);
  }

  private void activities(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () ->
            operations
                .activities()
                .list(
                    ActivityFilter.of(
                        query(context, "consumer"),
                        query(context, "type"),
                        query(context, "state")),
                    page(context)),
        Answers::page);
  }

  private void activity(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () ->
            operations
                .activities()
                .show(context.pathParam("consumer"), context.pathParam("eventId")),
        ActivityHistory::toJson);
  }

  private void reviews(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () ->
            operations
                .reviews()
                .list(query(context, "consumer"), query(context, "type"), page(context)),
        Answers::page);
  }

  private void deadLetters(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> operations.deadLetters().list(filter(context), page(context)),
        Answers::page);
  }

  private static DeadLetterFilter filter(RoutingContext context) {
    String state = query(context, "state");
    return DeadLetterFilter.of(
            query(context, "consumer"),
            query(context, "type"),
            query(context, "reason"),
            span(context))
        .withSearch(query(context, "search"))
        .withState(
            "all".equals(state)
                ? null
                : Input.choice(
                    "state", state == null ? "open" : state, DeadLetterFilter.State.class));
  }

  private void deadLetter(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> operations.deadLetters().show(Input.number("id", context.pathParam("id"), 1)),
        ViewRow::toJson);
  }

  private void parked(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () ->
            operations
                .outbox()
                .parked(
                    ParkedFilter.of(
                        query(context, "key"),
                        query(context, "exchange"),
                        query(context, "reason")),
                    page(context)),
        Answers::page);
  }

  private void audit(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () ->
            operations
                .audit()
                .list(
                    new AuditFilter(
                        new AuditFilter.Event(
                            query(context, "consumer"), query(context, "event_id")),
                        query(context, "actor"),
                        query(context, "action"),
                        span(context)),
                    page(context)),
        Answers::page);
  }

  private static TimeSpan span(RoutingContext context) {
    return TimeSpan.of(query(context, "since"), query(context, "until"), Instant.now());
  }

  private static Page.Request page(RoutingContext context) {
    String limit = query(context, "limit");
    return new Page.Request(
        limit == null
            ? PAGE
            : (int) Math.min(Input.number("limit", limit, 1), Page.Request.MAX + 1),
        query(context, "after"));
  }

  private static @Nullable String query(RoutingContext context, String name) {
    String value = context.queryParams().get(name);
    return value == null || value.isEmpty() ? null : value;
  }
}
