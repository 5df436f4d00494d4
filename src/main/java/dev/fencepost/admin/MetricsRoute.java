package dev.fencepost.admin;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import java.util.concurrent.TimeUnit;

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
    route.handler(
        context ->
            vertx
                .executeBlocking(() -> metrics.scrape().get(), false)
                .timeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .onSuccess(
                    text ->
                        context
                            .response()
                            .putHeader("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                            .end(text))
                .onFailure(context::fail));
  }
}
