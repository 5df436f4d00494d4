package dev.fencepost.handlers;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/** Handlers made from configuration text, as the worker gets them. */
final class HttpFixture implements AutoCloseable {
  static final Vertx VERTX = Vertx.vertx();

  private static final Duration HARD = Duration.ofSeconds(20);

  final Handlers handlers = new Handlers(VERTX);

  ActivityHandler handler(String url) {
    return handler(url, HARD);
  }

  ActivityHandler handler(String url, Duration hard) {
    return async(config(url, hard)).handler();
  }

  ActivityHandler signing(String url, String secret) {
    return async(config("idempotent", "url: '" + url + "', secret: '" + secret + "'", HARD))
        .handler();
  }

  ActivityHandler irreversible(String url) {
    return async(config("irreversible", "url: '" + url + "'", HARD)).handler();
  }

  ActivityHandler probing(String url, String probe) {
    return async(config("queryable", "url: '" + url + "', probe: {url: '" + probe + "'}", HARD))
        .handler();
  }

  FencepostConfig config(String url, Duration hard) {
    return config("idempotent", "url: '" + url + "'", hard);
  }

  BoundHandler.Async async(FencepostConfig config) {
    QueueConfig queue = config.queues().get("q");
    return (BoundHandler.Async) handlers.bind(queue, queue.activities().get("t"));
  }

  private static FencepostConfig config(String kind, String http, Duration hard) {
    return ConfigLoader.parse(
        """
        queues:
          q:
            queue: q
            activities:
              t:
                kind: %s
                handler: {http: {%s}}
                limits: {hard: %dms}
        """
            .formatted(kind, http, hard.toMillis()),
        Map.of());
  }

  /** As the worker calls: on a context. */
  static <T> Future<T> onContext(Supplier<Future<T>> call) {
    Promise<T> result = Promise.promise();
    VERTX.getOrCreateContext().runOnContext(v -> call.get().onComplete(result));
    return result.future();
  }

  @Override
  public void close() {
    Await.result(handlers.close());
  }
}
