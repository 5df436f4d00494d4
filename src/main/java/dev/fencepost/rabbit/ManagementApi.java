package dev.fencepost.rabbit;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** The few questions that only RabbitMQ's management API answers. */
final class ManagementApi {

  private static final long DEADLINE_MILLIS = 5_000;

  private final HttpClient client;
  private final URI base;

  /**
   * @param base {@code http[s]://user:password@host:port[/prefix]}
   */
  ManagementApi(Vertx vertx, URI base) {
    this.client = vertx.createHttpClient();
    this.base = base;
  }

  /**
   * @param login for a base that carries none
   * @return fails when the API cannot be reached in time, refuses, or does not know the queue
   */
  Future<QueueContract.Facts> queue(BrokerUri.Login login, String queue) {
    String path = "/api/queues/" + encode(login.vhost()) + "/" + encode(queue);
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setAbsoluteURI(base.getScheme() + "://" + hostAndPort() + prefix() + path)
            .putHeader("Authorization", "Basic " + credentials(login))
            .setTimeout(DEADLINE_MILLIS);
    return client
        .request(request)
        .compose(
            sent ->
                sent.send()
                    .compose(ManagementApi::body)
                    .timeout(DEADLINE_MILLIS, TimeUnit.MILLISECONDS))
        .map(body -> facts(body.toJsonObject()));
  }

  Future<Void> close() {
    return client.close();
  }

  static QueueContract.Facts facts(JsonObject queue) {
    return QueueContract.Facts.of(
        queue.getString("type", "classic"),
        queue.getBoolean("durable", true),
        object(queue, "arguments").getMap(),
        object(queue, "effective_policy_definition").getMap());
  }

  /** RabbitMQ writes an empty object as an empty array in places. */
  private static JsonObject object(JsonObject from, String name) {
    return from.getValue(name) instanceof JsonObject object ? object : new JsonObject();
  }

  private static Future<Buffer> body(HttpClientResponse response) {
    return response.statusCode() == 200
        ? response.body()
        : Future.failedFuture(new IOException("status " + response.statusCode()));
  }

  private String hostAndPort() {
    String authority = base.getRawAuthority();
    return authority.substring(authority.lastIndexOf('@') + 1);
  }

  private String prefix() {
    String path = base.getRawPath() == null ? "" : base.getRawPath();
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  private String credentials(BrokerUri.Login login) {
    String user = base.getRawUserInfo();
    String plain =
        user == null
            ? login.user() + ":" + login.password()
            : URLDecoder.decode(user.replace("+", "%2B"), StandardCharsets.UTF_8);
    return Base64.getEncoder().encodeToString(plain.getBytes(StandardCharsets.UTF_8));
  }

  private static String encode(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
