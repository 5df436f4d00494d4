package dev.fencepost.admin;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Listens on {@code admin.host}:{@code admin.port}. */
public final class AdminVerticle extends VerticleBase {
  /** Of a request's body. */
  static final int MAX_BODY = 64 * 1024;

  private final AdminParts parts;
  private @Nullable HttpServer server;
  private volatile int port;

  public AdminVerticle(AdminParts parts) {
    this.parts = parts;
  }

  @Override
  public Future<?> start() {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(parts.config().host())
            .setPort(parts.config().port())
            .setIdleTimeout(75)
            .setMaxHeaderSize(16 * 1024)
            .setMaxInitialLineLength(8 * 1024)
            .setCompressionSupported(true);
    HttpServer made = vertx.createHttpServer(options).requestHandler(router());
    server = made;
    return made.listen().onSuccess(listening -> port = listening.actualPort());
  }

  /** Where it listens, once deployed. */
  public int port() {
    return port;
  }

  @Override
  public Future<?> stop() {
    return server == null ? Future.succeededFuture() : Objects.requireNonNull(server).shutdown();
  }

  private Router router() {
    Router router = Router.router(vertx);
    Access access = new Access(parts.config().token());
    router
        .route()
        .handler(SecurityHeaders::add)
        .failureHandler(failed -> Problem.send(failed, access));
    for (int status : new int[] {400, 404, 405, 413, 415}) {
      router.errorHandler(status, failed -> Problem.send(failed, access));
    }
    new HealthRoutes(parts.readiness(), access).mount(router);
    RateLimit strangers = new RateLimit(RateLimit.Rate.REQUESTS, System::nanoTime);
    RateLimit holders = new RateLimit(RateLimit.Rate.REQUESTS, System::nanoTime);
    router.route().handler(asked -> (access.holdsToken(asked) ? holders : strangers).check(asked));
    new ConsoleRoutes().mount(router);
    new MetricsRoute(vertx, parts.metrics()).mount(router, access);
    router.route("/api/*").handler(access::check);
    router.post("/api/*").handler(Access::sameOriginJson);
    router.post("/api/*").handler(BodyHandler.create(false).setBodyLimit(MAX_BODY));
    new ReadRoutes(parts.operations(), parts.metrics().live()).mount(router);
    new ChangeRoutes(parts.operations()).mount(router);
    return router;
  }
}
