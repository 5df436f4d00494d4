package dev.fencepost.admin;

import static dev.fencepost.admin.AdminServer.await;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.FakeStores;
import dev.fencepost.operations.Readiness;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class AdminSecurityTest {
  private static final String REDRIVE = "/api/v1/dead-letters/redrive";

  /** What each change takes. */
  private static final Map<String, JsonObject> GOOD =
      Map.of(
          REDRIVE,
          of("operator", "anna").put("id", 1),
          "/api/v1/dead-letters/discard",
          of("operator", "anna").put("id", 1),
          "/api/v1/reviews/mail/e-1/decision",
          of("operator", "anna").put("as", "retry").put("evidence", "asked"),
          "/api/v1/parked/retry",
          of("operator", "anna").put("key", "order-1"),
          "/api/v1/parked/skip",
          of("operator", "anna").put("key", "order-1"),
          "/api/v1/parked/redirect",
          of("operator", "anna").put("key", "order-1").put("exchange", "shop"));

  private static JsonObject of(String name, String value) {
    return new JsonObject().put(name, value);
  }

  private static final JsonObject DRY = new JsonObject().put("dry_run", true);

  private final FakeStores stores = new FakeStores();

  @Test
  void onlyHealthIsOpenToEveryone() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      assertThat(await(server.request(HttpMethod.GET, "/health/live").send()).statusCode())
          .isEqualTo(200);
      assertThat(await(server.request(HttpMethod.GET, "/health/ready").send()).statusCode())
          .isEqualTo(200);
      for (String path : new String[] {"/metrics", "/api/v1/status", "/api/v1/nothing"}) {
        HttpResponse<Buffer> refused = await(server.request(HttpMethod.GET, path).send());
        assertThat(refused.statusCode()).as(path).isEqualTo(401);
        assertThat(refused.getHeader("WWW-Authenticate")).startsWith("Bearer");
        assertThat(refused.getHeader("Content-Type")).isEqualTo("application/problem+json");
      }
      assertThat(server.get("/metrics").bodyAsString()).isEqualTo("fencepost_up 1\n");
      assertThat(server.get("/api/v1/status").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aWrongTokenIsRefusedAndGuessingIsSlow() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      int status = 0;
      for (int i = 0; i < 30 && status != 429; i++) {
        HttpResponse<Buffer> refused =
            await(
                server
                    .request(HttpMethod.GET, "/api/v1/status")
                    .bearerTokenAuthentication("guess-" + i)
                    .send());
        status = refused.statusCode();
        assertThat(status).isIn(401, 429);
        assertThat(refused.bodyAsString())
            .doesNotContain(AdminServer.TOKEN)
            .doesNotContain("guess");
      }
      assertThat(status).isEqualTo(429);
    }
  }

  @Test
  void wrongTokensNeverKeepTheRightOneOut() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      List<Future<HttpResponse<Buffer>>> guesses = new ArrayList<>();
      List<Future<HttpResponse<Buffer>>> right = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        guesses.add(asked(server, "guess-" + i));
        if (i % 10 == 9) {
          right.add(asked(server, AdminServer.TOKEN));
        }
      }
      await(Future.all(guesses));
      await(Future.all(right));
      assertThat(guesses).filteredOn(g -> g.result().statusCode() == 429).isNotEmpty();
      assertThat(guesses).allMatch(g -> g.result().statusCode() >= 400);

      assertThat(right)
          .as("asked while others guess")
          .extracting(r -> r.result().statusCode())
          .containsOnly(200);
      assertThat(server.get("/metrics").statusCode()).isEqualTo(200);
    }
  }

  private static Future<HttpResponse<Buffer>> asked(AdminServer server, String token) {
    return server.request(HttpMethod.GET, "/api/v1/status").bearerTokenAuthentication(token).send();
  }

  @ParameterizedTest
  @CsvSource({"a-token-of-the-tests, false", "'', true"})
  void hostsAndUsersAreNamedToNoStranger(String token, boolean local) throws Exception {
    String secret = "cannot reach the database at db-7.internal:5432 as user anna";
    try (AdminServer server = new AdminServer(token, true, stores.operations())) {
      server.reasons.add(new Readiness.Reason("database", "database_unreachable", secret));
      server.scrape =
          () -> {
            throw new FencepostException(FailureKind.DATABASE_REFUSED, secret);
          };
      for (String path : new String[] {"/health/ready", "/metrics"}) {
        HttpResponse<Buffer> stranger =
            await(
                server
                    .request(HttpMethod.GET, path)
                    .putHeader("X-Forwarded-For", "203.0.113.9")
                    .send());
        HttpResponse<Buffer> guesser =
            await(
                server
                    .request(HttpMethod.GET, path)
                    .bearerTokenAuthentication("guess")
                    .putHeader("X-Forwarded-For", "203.0.113.9")
                    .send());
        for (HttpResponse<Buffer> answer : List.of(stranger, guesser)) {
          assertThat(answer.statusCode()).as(path).isGreaterThanOrEqualTo(500);
          assertThat(answer.bodyAsString())
              .as(path)
              .doesNotContain("db-7", "anna")
              .contains("database_");
        }
        HttpRequest<Buffer> friend = server.request(HttpMethod.GET, path);
        assertThat(
                await((local ? friend : friend.bearerTokenAuthentication(token)).send())
                    .bodyAsString())
            .as(path)
            .contains("db-7.internal:5432", "database_");
      }
    }
  }

  @Test
  void withoutPrometheusThereIsNothingToScrape() throws Exception {
    try (AdminServer server = AdminServer.withoutPrometheus(stores)) {
      assertThat(await(server.request(HttpMethod.GET, "/metrics").send()).statusCode())
          .isEqualTo(401);
      assertThat(server.get("/metrics").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void metricsMayBePublic() throws Exception {
    try (AdminServer server = new AdminServer(AdminServer.TOKEN, true, stores.operations())) {
      assertThat(await(server.request(HttpMethod.GET, "/metrics").send()).statusCode())
          .isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, 200",
    "127.0.0.1, 200",
    "[::1], 200",
    "127.0.0.2, 200",
    "[0:0:0:0:0:0:0:1], 200",
    "evil.example, 403",
    "127.0.0.1.evil.example, 403",
    "localhost.evil.example, 403",
    "127.0.evil.1, 403",
    "127.0.0.256, 403",
    "128.0.0.1, 403",
    "[::2], 403"
  })
  void withoutTokenOnlyNamesOfLoopbackAreAnswered(String host, int expected) throws Exception {
    try (AdminServer server = new AdminServer("", false, stores.operations())) {
      HttpResponse<Buffer> response =
          await(
              server
                  .request(HttpMethod.GET, "/api/v1/status")
                  .putHeader("Host", host + ":" + server.port)
                  .send());
      assertThat(response.statusCode()).isEqualTo(expected);
      assertThat(await(server.request(HttpMethod.GET, "/metrics").send()).statusCode())
          .isEqualTo(200);
    }
  }

  /** What the configuration takes without a token is a name by which the server then answers. */
  @ParameterizedTest
  @ValueSource(strings = {"localhost", "127.0.0.2", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
  void whereItMayListenWithoutTokenItAnswers(String host) throws Exception {
    FencepostConfig.Admin config =
        ConfigLoader.parse("admin: {port: 0, host: '" + host + "'}", Map.of()).operation().admin();
    try (AdminServer server = new AdminServer(config, false, stores.operations())) {
      HttpResponse<Buffer> response =
          await(
              server
                  .request(HttpMethod.GET, "/api/v1/status")
                  .putHeader("Host", server.authority())
                  .send());
      assertThat(response.statusCode()).isEqualTo(200);
    }
  }

  @Test
  void withoutTokenNoProxyIsAnswered() throws Exception {
    try (AdminServer server = new AdminServer("", false, stores.operations())) {
      HttpResponse<Buffer> response =
          await(
              server
                  .request(HttpMethod.GET, "/api/v1/status")
                  .putHeader("X-Forwarded-For", "203.0.113.9")
                  .send());
      assertThat(response.statusCode()).isEqualTo(403);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://evil.example", "null", "http://127.0.0.1:1"})
  void pagesOfOtherOriginsChangeNothing(String origin) throws Exception {
    stores.deadLetter(1, "mail", "permanent_failure");
    try (AdminServer server = AdminServer.withToken(stores)) {
      assertThat(await(post(server).putHeader("Origin", origin).sendJsonObject(DRY)).statusCode())
          .isEqualTo(403);
      assertThat(
              await(
                      post(server)
                          .putHeader("Origin", "http://127.0.0.1:" + server.port)
                          .sendJsonObject(DRY))
                  .statusCode())
          .isEqualTo(200);
      assertThat(
              await(post(server).putHeader("Sec-Fetch-Site", "cross-site").sendJsonObject(DRY))
                  .statusCode())
          .isEqualTo(403);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""})
  void whatAFormCanSendIsRefused(String type) throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      HttpRequest<Buffer> request = post(server);
      if (!type.isEmpty()) {
        request.putHeader("Content-Type", type);
      }
      assertThat(await(request.sendBuffer(DRY.toBuffer())).statusCode()).isEqualTo(415);
    }
  }

  private static HttpRequest<Buffer> post(AdminServer server) {
    return server.request(HttpMethod.POST, REDRIVE).bearerTokenAuthentication(AdminServer.TOKEN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        REDRIVE,
        "/api/v1/dead-letters/discard",
        "/api/v1/reviews/mail/e-1/decision",
        "/api/v1/parked/retry",
        "/api/v1/parked/skip",
        "/api/v1/parked/redirect"
      })
  void noMethodButPostChangesAnything(String path) throws Exception {
    stores.deadLetter(1, "mail", "permanent_failure");
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);
    stores.parked(7, "order-1", "missing", "exchange_missing");
    JsonObject good = GOOD.get(path);
    String inPath = "?" + query(good);
    try (AdminServer server = AdminServer.withToken(stores)) {
      for (HttpMethod method :
          List.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.PUT, HttpMethod.OPTIONS)) {
        for (String uri : List.of(path, path + inPath)) {
          int status =
              await(
                      server
                          .request(method, uri)
                          .bearerTokenAuthentication(AdminServer.TOKEN)
                          .sendJsonObject(good))
                  .statusCode();
          assertThat(status).as(method + " " + uri).isIn(400, 404, 405);
        }
      }
      assertThat(stores.chunks).isEmpty();
      assertThat(stores.requested).isEmpty();
      assertThat(stores.reviewed).isEmpty();

      assertThat(server.post(path, good).statusCode()).as("by POST it does").isEqualTo(200);
      assertThat(stores.chunks.size() + stores.requested.size() + stores.reviewed.size())
          .isEqualTo(1);
    }
  }

  private static String query(JsonObject fields) {
    return fields.stream()
        .map(field -> field.getKey() + "=" + field.getValue())
        .collect(Collectors.joining("&"));
  }

  @Test
  void everyAnswerCarriesTheSecurityHeaders() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      for (String path :
          new String[] {
            "/", "/triage", "/console/js/main.js", "/health/live", "/api/v1/status", "/nothing"
          }) {
        HttpResponse<Buffer> response = server.get(path);
        assertThat(response.getHeader("Content-Security-Policy"))
            .as(path)
            .contains(
                "default-src 'none'",
                "script-src 'self';",
                "connect-src 'self';",
                "form-action 'none'",
                "frame-ancestors 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'")
            .doesNotContain("unsafe", "*", "http", "data:");
        assertThat(response.getHeader("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(response.getHeader("X-Frame-Options")).isEqualTo("DENY");
        assertThat(response.getHeader("Access-Control-Allow-Origin")).isNull();
        boolean page = path.equals("/") || path.equals("/triage") || path.startsWith("/console");
        assertThat(response.getHeader("Cache-Control")).isEqualTo(page ? "no-cache" : "no-store");
      }
    }
  }

  @Test
  void largeBodiesAreRefused() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      HttpResponse<Buffer> response =
          server.post(REDRIVE, new JsonObject().put("note", "x".repeat(AdminVerticle.MAX_BODY)));
      assertThat(response.statusCode()).isEqualTo(413);
      assertThat(response.bodyAsJsonObject().getString("detail")).contains("65536");
    }
  }

  @Test
  void aBodyWithoutEndIsRefusedWhereTheLimitIs() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores);
        Socket socket = new Socket("127.0.0.1", server.port)) {
      socket.setSoTimeout(20_000);
      OutputStream out = socket.getOutputStream();
      String head =
          "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                  .formatted(REDRIVE, AdminServer.TOKEN)
              + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
      out.write(head.getBytes(StandardCharsets.US_ASCII));
      byte[] chunk = ("1000\r\n" + " ".repeat(4096) + "\r\n").getBytes(StandardCharsets.US_ASCII);
      for (int sent = 0; sent <= AdminVerticle.MAX_BODY; sent += 4096) {
        out.write(chunk);
      }
      out.flush();
      byte[] answer = socket.getInputStream().readNBytes(12);
      assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 413");
    }
  }

  @Test
  void anAddressThatAsksTooOftenIsSlowedDown() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      List<Future<HttpResponse<Buffer>>> asked = new ArrayList<>();
      List<Future<HttpResponse<Buffer>>> right = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        asked.add(server.request(HttpMethod.GET, "/triage").send());
        if (i % 50 == 49) {
          right.add(asked(server, AdminServer.TOKEN));
        }
      }
      await(Future.all(asked));
      await(Future.all(right));
      assertThat(asked).extracting(a -> a.result().statusCode()).contains(200, 429);
      assertThat(right)
          .as("who has the token is counted apart")
          .extracting(r -> r.result().statusCode())
          .containsOnly(200);
      assertThat(await(server.request(HttpMethod.GET, "/health/live").send()).statusCode())
          .as("probes are never refused")
          .isEqualTo(200);
    }
  }

  @Test
  void nothingSecretIsLoggedOrAnswered() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    ch.qos.logback.classic.Logger root =
        (ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    log.start();
    root.addAppender(log);
    List<String> said = new ArrayList<>();
    try (AdminServer server = AdminServer.withToken(stores)) {
      stores.onChange =
          id -> {
            throw new IllegalStateException("a fault of ours");
          };
      stores.deadLetter(1, "mail", "permanent_failure");
      said.add(server.get("/api/v1/status").bodyAsString());
      said.add(server.get("/metrics").bodyAsString());
      said.add(server.post(REDRIVE, GOOD.get(REDRIVE)).bodyAsString());
      said.add(server.post(REDRIVE, new JsonObject().put("nonsense", 1)).bodyAsString());
      said.add(
          await(
                  server
                      .request(HttpMethod.GET, "/api/v1/status")
                      .bearerTokenAuthentication("a-guess-of-a-stranger")
                      .send())
              .bodyAsString());
    } finally {
      root.detachAppender(log);
    }
    assertThat(said)
        .noneMatch(text -> text.contains(AdminServer.TOKEN) || text.contains("a-guess"));
    assertThat(log.list).as("a fault is told").isNotEmpty();
    assertThat(log.list)
        .extracting(line -> line.getFormattedMessage() + line.getThrowableProxy())
        .noneMatch(line -> line.contains(AdminServer.TOKEN) || line.contains("a-guess"));
  }

  @Test
  void tooManyRequestsAreRefused() {
    AtomicLong now = new AtomicLong();
    RateLimit limit = new RateLimit(new RateLimit.Rate(10, 3), now::get);

    for (int i = 0; i < 3; i++) {
      assertThat(limit.take("a")).isTrue();
    }
    assertThat(limit.take("a")).isFalse();
    assertThat(limit.take("b")).isTrue();
    now.addAndGet(100_000_000);
    assertThat(limit.take("a")).isTrue();
    assertThat(limit.take("a")).isFalse();
    for (int i = 0; i < 5000; i++) {
      limit.take("address-" + i);
    }
    assertThat(limit.take("a")).as("forgotten, so that memory is bounded").isTrue();
  }
}
