package dev.fencepost.admin;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.FakeStores;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.Readiness;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The admin verticle on a free port, and a client that talks to it. */
public final class AdminServer implements AutoCloseable {
  public static final String TOKEN = "a-token-of-the-tests";

  public final List<Readiness.Reason> reasons = new ArrayList<>();
  public final List<LiveMetrics.Sample> samples =
      new CopyOnWriteArrayList<>(
          List.of(
              new LiveMetrics.Sample("fencepost_relay_published_total", Map.of("lane", "3"), 41)));
  public volatile Supplier<String> scrape = () -> "fencepost_up 1\n";
  private final Vertx vertx = Vertx.vertx();
  private final WebClient client = WebClient.create(vertx);
  public final int port;

  private final String host;

  public AdminServer(String token, boolean metricsOpen, Operations operations) throws Exception {
    this(new FencepostConfig.Admin("127.0.0.1", 0, token), metricsOpen, operations);
  }

  public AdminServer(FencepostConfig.Admin config, boolean metricsOpen, Operations operations)
      throws Exception {
    this(config, operations, new FencepostConfig.Metrics(true, false, metricsOpen));
  }

  private AdminServer(
      FencepostConfig.Admin config, Operations operations, FencepostConfig.Metrics metrics)
      throws Exception {
    host = config.host().replaceAll("[\\[\\]]", "");
    AdminVerticle verticle =
        new AdminVerticle(
            new AdminParts(
                config,
                operations,
                () -> Future.succeededFuture(List.copyOf(reasons)),
                new AdminParts.Metrics(
                    metrics.prometheus() ? () -> scrape.get() : null,
                    () -> samples,
                    metrics.open())));
    await(vertx.deployVerticle(verticle));
    port = verticle.port();
  }

  public static AdminServer withToken(FakeStores stores) throws Exception {
    return new AdminServer(TOKEN, false, stores.operations());
  }

  static AdminServer withoutPrometheus(FakeStores stores) throws Exception {
    return new AdminServer(
        new FencepostConfig.Admin("127.0.0.1", 0, TOKEN),
        stores.operations(),
        new FencepostConfig.Metrics(false, true, false));
  }

  public HttpRequest<Buffer> request(HttpMethod method, String path) {
    return client.request(method, port, host, path);
  }

  /** What a URL with its address in it sends as {@code Host}. */
  public String authority() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  public HttpResponse<Buffer> get(String path) throws Exception {
    return await(request(HttpMethod.GET, path).bearerTokenAuthentication(TOKEN).send());
  }

  public HttpResponse<Buffer> post(String path, JsonObject body) throws Exception {
    return await(
        request(HttpMethod.POST, path).bearerTokenAuthentication(TOKEN).sendJsonObject(body));
  }

  public static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Override
  public void close() throws Exception {
    await(vertx.close());
  }
}
