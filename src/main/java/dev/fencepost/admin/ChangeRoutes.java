package dev.fencepost.admin;

import dev.fencepost.operations.BulkRequest;
import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.Input;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.ParkedRequest;
import dev.fencepost.operations.Progress;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewStore;
import dev.fencepost.operations.TimeSpan;
import dev.fencepost.operations.Who;
import io.vertx.core.Future;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What can be changed. */
final class ChangeRoutes {
  private static final int DEADLINE_SECONDS = 30;

  /** A paced request ends within its deadline; {@code more} says that there is more to do. */
  private static final int PACED_SECONDS = 15;

  private static final int ITEMS = 500;
  private static final int MAX_ITEMS = 1000;

  private static final Set<String> DECISION =
      Set.of("as", "decision", "operator", "evidence", "fence");
  private static final Set<String> BULK =
      Set.of(
          "id",
          "ids",
          "all",
          "consumer",
          "type",
          "reason",
          "since",
          "until",
          "search",
          "dry_run",
          "rate",
          "limit",
          "operator",
          "note");
  private static final Set<String> PARKED =
      Set.of("key", "seq", "key_or_seq", "all", "operator", "note", "exchange", "routing_key");

  private final Operations operations;

  ChangeRoutes(Operations operations) {
    this.operations = operations;
  }

  void mount(Router router) {
    router.post("/api/v1/reviews/:consumer/:eventId/decision").handler(this::decide);
    router
        .post("/api/v1/dead-letters/redrive")
        .handler(context -> bulk(context, operations.deadLetters()::redrive));
    router
        .post("/api/v1/dead-letters/discard")
        .handler(context -> bulk(context, operations.deadLetters()::discard));
    for (ParkedRequest.Action action : ParkedRequest.Action.values()) {
      String name = action.name().toLowerCase(Locale.ROOT);
      router.post("/api/v1/parked/" + name).handler(context -> parked(context, action));
    }
  }

  private void decide(RoutingContext context) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> {
          JsonInput in = JsonInput.of(context, DECISION);
          return operations
              .reviews()
              .resolve(
                  ReviewRequest.of(
                      context.pathParam("consumer"),
                      context.pathParam("eventId"),
                      in.has("as") ? in.text("as") : in.text("decision"),
                      in.text("operator"),
                      in.text("evidence"),
                      in.number("fence", 0)));
        },
        ReviewStore.Resolution::toJson);
  }

  private interface Bulk {
    Future<BulkResult> run(BulkRequest request, Progress progress);
  }

  private static void bulk(RoutingContext context, Bulk bulk) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> {
          BulkRequest request = bulkRequest(JsonInput.of(context, BULK));
          return bulk.run(request, Progress.NONE);
        },
        BulkResult::toJson);
  }

  private static BulkRequest bulkRequest(JsonInput in) {
    List<Long> ids = new ArrayList<>(in.numbers("ids"));
    ids.addAll(in.numbers("id"));
    if (ids.size() > MAX_ITEMS) {
      throw Input.refused("ids", ids.size() + " ids", "at most " + MAX_ITEMS + " in one request");
    }
    boolean dryRun = in.flag("dry_run");
    int rate = in.number("rate", 1, 0);
    int limit = Math.min(in.number("limit", 1, ITEMS), MAX_ITEMS);
    int most = rate == 0 || dryRun ? limit : (int) Math.min(limit, (long) rate * PACED_SECONDS);
    DeadLetterFilter filter =
        DeadLetterFilter.of(
                in.text("consumer"),
                in.text("type"),
                in.text("reason"),
                TimeSpan.of(in.text("since"), in.text("until"), Instant.now()))
            .withSearch(in.text("search"));
    return new BulkRequest(
        ids, filter, in.flag("all"), who(in), new BulkRequest.Pace(dryRun, rate, most));
  }

  private static @Nullable Who who(JsonInput in) {
    String operator = in.text("operator");
    return operator == null || operator.isBlank() ? null : new Who(operator, in.text("note"));
  }

  private void parked(RoutingContext context, ParkedRequest.Action action) {
    Answers.with(
        context,
        DEADLINE_SECONDS,
        () -> {
          JsonInput in = JsonInput.of(context, PARKED);
          String exchange = in.text("exchange");
          return operations
              .outbox()
              .request(
                  new ParkedRequest(
                      action,
                      row(in),
                      new Who(
                          Input.required("operator", in.text("operator"), 200), in.text("note")),
                      exchange == null
                          ? null
                          : new ParkedRequest.Target(exchange, in.text("routing_key"))));
        },
        BulkResult::toJson);
  }

  private static ParkedRequest.Row row(JsonInput in) {
    ParkedRequest.By by =
        in.has("key")
            ? ParkedRequest.By.KEY
            : in.has("seq") ? ParkedRequest.By.SEQ : ParkedRequest.By.KEY_OR_SEQ;
    String name = in.text(by.name().toLowerCase(Locale.ROOT));
    return new ParkedRequest.Row(Input.name("key or seq", name), by, in.flag("all"));
  }
}
