package dev.fencepost.admin;

import static dev.fencepost.admin.AdminServer.await;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminSecurityTest {
  private static final String REDRIVE = "/api/v1/dead-letters/redrive";
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
      for (int i = 0; i < 400; i++) {
        guesses.add(
            server
                .request(HttpMethod.GET, "/api/v1/status")
                .bearerTokenAuthentication("guess-" + i)
                .send());
      }
      await(Future.all(guesses));
      assertThat(guesses).filteredOn(g -> g.result().statusCode() == 429).isNotEmpty();
      assertThat(guesses).allMatch(g -> g.result().statusCode() >= 400);

      assertThat(server.get("/api/v1/status").statusCode()).isEqualTo(200);
      assertThat(server.get("/metrics").statusCode()).isEqualTo(200);
    }
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
    "evil.example, 403",
    "127.0.0.1.evil.example, 403"
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
  void getChangesNothing(String path) throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      assertThat(server.get(path).statusCode()).isIn(400, 404, 405);
      assertThat(stores.chunks).isEmpty();
      assertThat(stores.requested).isEmpty();
      assertThat(stores.reviewed).isEmpty();
    }
  }

  @Test
  void everyAnswerCarriesTheSecurityHeaders() throws Exception {
    try (AdminServer server = AdminServer.withToken(stores)) {
      for (String path : new String[] {"/health/live", "/api/v1/status", "/nothing"}) {
        HttpResponse<Buffer> response = server.get(path);
        assertThat(response.getHeader("Content-Security-Policy"))
            .contains("default-src 'none'")
            .doesNotContain("unsafe");
        assertThat(response.getHeader("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(response.getHeader("X-Frame-Options")).isEqualTo("DENY");
        assertThat(response.getHeader("Cache-Control")).isEqualTo("no-store");
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
