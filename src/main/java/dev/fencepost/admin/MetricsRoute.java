package dev.fencepost.admin;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Prometheus' text format. */
final class MetricsRoute {
  private static final int DEADLINE_SECONDS = 10;

  private final Vertx vertx;
  private final AdminParts.Metrics metrics;

  MetricsRoute(Vertx vertx, AdminParts.Metrics metrics) {
    this.vertx = vertx;
    this.metrics = metrics;
  }

  void mount(Router router, Access access) {
    Route route = router.get("/metrics");
    if (access.hasToken() && !metrics.open()) {
      route.handler(access::check);
    }
    Supplier<String> scrape = metrics.scrape();
    if (scrape == null) {
      route.handler(context -> context.fail(404));
      return;
    }
    Callable<String> text = scrape::get;
    route.handler(
        context ->
            vertx
                .executeBlocking(text, false)
                .timeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .onSuccess(
                    found ->
                        context
                            .response()
                            .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                            .end(found))
                .onFailure(context::fail));
  }
}
