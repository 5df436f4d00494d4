package dev.fencepost.handlers;

import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where a request goes. */
record HttpTarget(URI uri) {
  private static final int HTTPS_PORT = 443;
  private static final int HTTP_PORT = 80;
  private static final Duration CONNECT_AT_MOST = Duration.ofSeconds(5);

  boolean tls() {
    return uri.getScheme().toLowerCase(Locale.ROOT).equals("https");
  }

  int port() {
    return uri.getPort() > 0 ? uri.getPort() : tls() ? HTTPS_PORT : HTTP_PORT;
  }

  /** Scheme, host and port: what is up or down as a whole. */
  String remote() {
    return uri.getScheme().toLowerCase(Locale.ROOT) + "://" + uri.getHost() + ":" + port();
  }

  /** For messages: without user, password and query. */
  String shown() {
    return remote() + uri.getRawPath();
  }

  /**
   * @param deadline of the whole exchange; half of it, and 5 s, bound the connecting, so that a
   *     remote that cannot be reached is told from one that does not answer
   */
  RequestOptions request(HttpMethod method, Duration deadline) {
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    Duration half = deadline.dividedBy(2);
    Duration connect = half.compareTo(CONNECT_AT_MOST) < 0 ? half : CONNECT_AT_MOST;
    String host = uri.getHost();
    RequestOptions options =
        new RequestOptions()
            .setMethod(method)
            .setServer(SocketAddress.inetSocketAddress(port(), host.replaceAll("[\\[\\]]", "")))
            .setHost(host)
            .setPort(port())
            .setSsl(tls())
            .setURI(uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery())
            .setConnectTimeout(Math.max(1, connect.toMillis()))
            .setFollowRedirects(false);
    String authorization = authorization();
    return authorization == null ? options : options.putHeader("authorization", authorization);
  }

  private @Nullable String authorization() {
    String user = uri.getRawUserInfo();
    if (user == null) {
      return null;
    }
    // A plus is itself in user information, unlike in a form.
    String plain = URLDecoder.decode(user.replace("+", "%2B"), StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(plain.getBytes(StandardCharsets.UTF_8));
  }
}
