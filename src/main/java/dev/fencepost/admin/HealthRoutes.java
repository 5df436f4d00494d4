package dev.fencepost.admin;

import dev.fencepost.operations.Readiness;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Alive, and ready: makes progress. Answered to everyone; what names hosts and users is said only
 * to whom the API would answer.
 */
final class HealthRoutes {
  private static final int DEADLINE_MS = 3000;

  private final Readiness readiness;
  private final Access access;

  HealthRoutes(Readiness readiness, Access access) {
    this.readiness = readiness;
    this.access = access;
  }

  void mount(Router router) {
    router
        .get("/health/live")
        .handler(context -> Answers.json(context, 200, new JsonObject().put("status", "UP")));
    router.get("/health/ready").handler(this::ready);
  }

  private void ready(RoutingContext context) {
    readiness
        .reasons()
        .timeout(DEADLINE_MS, TimeUnit.MILLISECONDS)
        .otherwise(
            List.of(
                new Readiness.Reason(
                    "health", "timeout", "the check did not answer within 3 seconds")))
        .onSuccess(reasons -> answer(context, reasons))
        .onFailure(context::fail);
  }

  private void answer(RoutingContext context, List<Readiness.Reason> reasons) {
    boolean all = access.admits(context);
    JsonArray said = new JsonArray();
    reasons.forEach(
        r ->
            said.add(
                new JsonObject()
                    .put("part", r.part())
                    .put("code", r.code())
                    .put("reason", all ? r.reason() : r.code())));
    boolean up = reasons.isEmpty();
    Answers.json(
        context,
        up ? 200 : 503,
        new JsonObject().put("status", up ? "UP" : "DOWN").put("reasons", said));
  }
}
