package dev.fencepost.admin;

import dev.fencepost.operations.Page;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** JSON answers, each within a deadline. */
final class Answers {
  private Answers() {}

  static void json(RoutingContext context, int status, JsonObject body) {
    context
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "application/json")
        .end(body.toBuffer());
  }

  /** Runs a use case and answers with what it gives; refusals of its input are failures too. */
  static <T> void with(
      RoutingContext context,
      int deadlineSeconds,
      Supplier<Future<T>> ask,
      Function<T, JsonObject> toJson) {
    Future.<Void>succeededFuture()
        .compose(ignored -> ask.get())
        .timeout(deadlineSeconds, TimeUnit.SECONDS)
        .map(toJson)
        .onSuccess(body -> json(context, 200, body))
        .onFailure(context::fail);
  }

  static JsonObject page(Page<ViewRow> page) {
    JsonArray items = new JsonArray();
    page.items().forEach(row -> items.add(row.toJson()));
    return new JsonObject().put("items", items).put("next", page.next());
  }
}
