package dev.fencepost.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.ProbeResult.Answer;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RunFailure;
import dev.fencepost.testing.Await;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HttpHandlerTest {
  private static final Vertx VERTX = HttpFixture.VERTX;

  private final Remote remote = Remote.start(VERTX);
  private final HttpFixture fixture = new HttpFixture();

  @AfterEach
  void close() {
    remote.close();
    fixture.close();
  }

  @Test
  void postsTheBodyByteForByteWithWhoAndWhat() {
    byte[] body = {0, 1, (byte) 0xff, '{', 0x7f};
    run(fixture.handler(remote.url("/hook?x=1%202")), FakeContext.of("e-1", "").withBody(body));

    Remote.Seen seen = remote.seen.get(0);
    assertThat(seen.body().getBytes()).isEqualTo(body);
    assertThat(seen.request().method().name()).isEqualTo("POST");
    assertThat(seen.request().uri()).isEqualTo("/hook?x=1%202");
    assertThat(seen.header("content-type")).isEqualTo("application/json; charset=utf-8");
    assertThat(seen.header("Idempotency-Key")).isEqualTo("e-1");
    assertThat(seen.header("Fencepost-Fence")).isEqualTo("5");
    assertThat(seen.header("Fencepost-Attempt")).isEqualTo("2");
    assertThat(seen.header("Fencepost-Type")).isEqualTo("order.placed");
    assertThat(seen.header("Fencepost-Key")).isEqualTo("order-7");
    assertThat(seen.header("Fencepost-Consumer")).isEqualTo("notifications");
    assertThat(seen.header("traceparent"))
        .isEqualTo("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    assertThat(seen.header("webhook-signature")).isNull();
  }

  @Test
  void signsAsStandardWebhooksSays() throws Exception {
    byte[] key = "0123456789abcdef01234567".getBytes(StandardCharsets.US_ASCII);
    String secret = "whsec_" + Base64.getEncoder().encodeToString(key);
    run(fixture.signing(remote.url("/"), secret), FakeContext.of("e-1", "{\"id\":7}"));
    run(fixture.signing(remote.url("/"), "plain text"), FakeContext.of("e-2", "x"));

    assertSigned(remote.seen.get(0), key, "e-1");
    assertSigned(remote.seen.get(1), "plain text".getBytes(StandardCharsets.UTF_8), "e-2");
  }

  @Test
  void theSignatureOfAKnownVector() {
    // The example of the Standard Webhooks specification.
    assertThat(
            new WebhookSignature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                .sign(
                    "msg_p5jXN8AQM9LWM0D4loKWxJek",
                    1614265330L,
                    "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  }

  @Test
  void idsOfAnyTextStayApartInHeaders() {
    for (String id : List.of("ä", "ö", "a\r\nb", "a b", "a%20b", " a", "\u0000")) {
      run(fixture.signing(remote.url("/"), "s"), FakeContext.of(id, ""));
    }
    assertThat(remote.seen)
        .extracting(seen -> seen.header("idempotency-key"))
        .containsExactly("%C3%A4", "%C3%B6", "a%0D%0Ab", "a%20b", "a%2520b", "%20a", "%00");
  }

  @Test
  void propertiesThatDoNotFitAHeaderAreLeftOut() {
    run(
        fixture.handler(remote.url("/")),
        FakeContext.of("e", "x")
            .withProperties(Map.of("content_type", "text/plain\r\nX-Evil: 1"))
            .withHeaders(Map.of("traceparent", "a\nb")));

    Remote.Seen seen = remote.seen.get(0);
    assertThat(seen.header("content-type")).isEqualTo("application/octet-stream");
    assertThat(seen.header("x-evil")).isNull();
    assertThat(seen.header("traceparent")).isNull();
  }

  @Test
  void userAndPasswordOfTheUrlAreSentAndNeverShown() {
    remote.answers(500, "no");
    RunFailure failure =
        fail(
            fixture.handler("http://ann:p%40ss@127.0.0.1:" + remote.port() + "/a?token=T0P"),
            FakeContext.of("e", ""));

    assertThat(remote.seen.get(0).header("authorization"))
        .isEqualTo("Basic " + Base64.getEncoder().encodeToString("ann:p@ss".getBytes()));
    assertThat(failure)
        .hasMessage("HTTP 500 from http://127.0.0.1:" + remote.port() + "/a: no")
        .hasMessageNotContainingAny("ann", "T0P");
  }

  @Test
  void every2xxIsDoneAndItsBodyTheReceipt() {
    for (int status : new int[] {200, 201, 202, 204, 299}) {
      remote.answers(status, status == 204 ? "" : "ref-" + status);
      Receipt receipt = run(fixture.handler(remote.url("/")), FakeContext.of("e", ""));
      assertThat(receipt.outcome()).isEqualTo(ReceiptOutcome.SUCCEEDED);
      assertThat(receipt.body()).isEqualTo(status == 204 ? null : "ref-" + status);
    }
  }

  @Test
  void aReceiptIsBoundedAndStorable() {
    remote.does(
        request -> {
          request.response().setChunked(true);
          request.response().write("a\u0000b");
          for (int i = 0; i < 1_000; i++) {
            request.response().write(Buffer.buffer(new byte[1_024]));
          }
          request.response().end();
        });
    Receipt receipt = run(fixture.handler(remote.url("/")), FakeContext.of("e", ""));

    assertThat(receipt.body()).startsWith("a\uFFFDb");
    assertThat(receipt.body().getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(16_384);
  }

  @Test
  void anAnswerOf200WhoseBodyIsCutOffIsStillDone() {
    remote.does(
        request -> {
          request.response().putHeader("content-length", "100").write("half");
          request.connection().close();
        });
    Receipt receipt = run(fixture.handler(remote.url("/")), FakeContext.of("e", ""));

    assertThat(receipt.outcome()).isEqualTo(ReceiptOutcome.SUCCEEDED);
  }

  @Test
  void aBodyThatNeverEndsIsNotWaitedFor() {
    remote.does(request -> request.response().putHeader("content-length", "9").write("half"));
    Receipt receipt =
        run(fixture.handler(remote.url("/"), Duration.ofMillis(300)), FakeContext.of("e", ""));

    assertThat(receipt.body()).isEqualTo("half");
  }

  @Test
  void retryAfterInSecondsAndAsADate() {
    remote.does(r -> r.response().setStatusCode(503).putHeader("Retry-After", "120").end());
    assertThat(fail(fixture.handler(remote.url("/")), FakeContext.of("e", "")).retryAfter())
        .isEqualTo(Duration.ofSeconds(120));

    String date =
        DateTimeFormatter.RFC_1123_DATE_TIME.format(
            Instant.now().plusSeconds(90).atOffset(ZoneOffset.UTC));
    remote.does(r -> r.response().setStatusCode(429).putHeader("Retry-After", date).end());
    assertThat(fail(fixture.handler(remote.url("/")), FakeContext.of("e", "")).retryAfter())
        .isBetween(Duration.ofSeconds(80), Duration.ofSeconds(90));

    remote.does(r -> r.response().setStatusCode(503).putHeader("Retry-After", "soon").end());
    assertThat(fail(fixture.handler(remote.url("/")), FakeContext.of("e", "")).retryAfter())
        .isNull();
  }

  @Test
  void retryAfterIsBounded() {
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    assertThat(RetryAfter.parse("999999999", now)).isEqualTo(RetryAfter.MOST);
    assertThat(RetryAfter.parse("99999999999999", now)).isNull();
    assertThat(RetryAfter.parse("Wed, 31 Dec 2025 00:00:00 GMT", now)).isEqualTo(Duration.ZERO);
    assertThat(RetryAfter.parse("-1", now)).isNull();
    assertThat(RetryAfter.parse(null, now)).isNull();
  }

  @Test
  void aRedirectIsNotFollowed() {
    AtomicInteger followed = new AtomicInteger();
    remote.does(
        request -> {
          if (request.path().equals("/new")) {
            followed.incrementAndGet();
          }
          request.response().setStatusCode(307).putHeader("location", "/new").end();
        });

    assertThat(fail(fixture.handler(remote.url("/")), FakeContext.of("e", "")))
        .hasMessageStartingWith("HTTP 307");
    assertThat(followed).hasValue(0);
  }

  @Test
  void workThatMayNotBeRepeatedHasAConnectionForEachCall() {
    ActivityHandler idempotent = fixture.handler(remote.url("/"));
    run(idempotent, FakeContext.of("e", ""));
    run(idempotent, FakeContext.of("e", ""));
    assertThat(remote.connections).hasValue(1);

    ActivityHandler irreversible = fixture.irreversible(remote.url("/"));
    run(irreversible, FakeContext.of("e", ""));
    run(irreversible, FakeContext.of("e", ""));
    assertThat(remote.connections).hasValue(3);
  }

  @Test
  void theRequestIsGivenUpAtTheHardLimit() {
    AtomicInteger closed = new AtomicInteger();
    remote.does(request -> request.connection().closeHandler(v -> closed.incrementAndGet()));
    fail(fixture.handler(remote.url("/"), Duration.ofMillis(200)), FakeContext.of("e", ""));

    Await.until("the connection is closed", () -> closed.get() == 1);
  }

  @Test
  void aReloadChangesTheHardLimit() {
    remote.does(request -> {});
    ActivityHandler handler = fixture.handler(remote.url("/"), Duration.ofMinutes(5));
    fixture.handlers.reloaded(fixture.config(remote.url("/"), Duration.ofMillis(100)));

    assertThat(fail(handler, FakeContext.of("e", "")))
        .hasMessageStartingWith("no answer by the hard limit");
  }

  @Test
  void probes() {
    ActivityHandler handler = fixture.probing(remote.url("/"), remote.url("/done/{event_id}?a=1"));

    assertProbe(handler, 200, "{\"outcome\":\"succeeded\",\"ref\":\"r1\"}", Answer.SUCCEEDED);
    assertProbe(handler, 200, "{\"outcome\":\"failed_permanent\"}", Answer.FAILED_PERMANENT);
    assertProbe(handler, 404, "", Answer.NEVER_HAPPENED);
    assertProbe(handler, 200, "{\"outcome\":\"pending\"}", Answer.UNKNOWN);
    assertProbe(handler, 200, "{\"outcome\":[\"succeeded\"]}", Answer.UNKNOWN);
    assertProbe(handler, 200, "[]", Answer.UNKNOWN);
    assertProbe(handler, 200, "", Answer.UNKNOWN);
    assertProbe(handler, 202, "{\"outcome\":\"succeeded\"}", Answer.UNKNOWN);
    assertProbe(handler, 500, "", Answer.UNKNOWN);
    assertProbe(handler, 301, "", Answer.UNKNOWN);

    Remote.Seen seen = remote.seen.get(0);
    assertThat(seen.request().method().name()).isEqualTo("GET");
    assertThat(seen.request().uri()).isEqualTo("/done/a%2Fb%20%C3%BC%3F?a=1");
    assertThat(seen.header("fencepost-fence")).isEqualTo("5");
  }

  @Test
  void aProbeThatCannotAskKnowsNothing() {
    ActivityHandler handler =
        fixture.probing(remote.url("/"), "http://127.0.0.1:1/done/{event_id}");
    ProbeResult result = Await.result(handler.probe(FakeContext.of("e", "")));

    assertThat(result.answer()).isEqualTo(Answer.UNKNOWN);
    assertThat(result.detail()).startsWith("cannot connect to http://127.0.0.1:1/done/e");
  }

  private void assertProbe(ActivityHandler handler, int status, String body, Answer expected) {
    remote.answers(status, body);
    ProbeResult result = Await.result(handler.probe(FakeContext.of("a/b ü?", "")));
    assertThat(result.answer()).as(status + " " + body).isEqualTo(expected);
  }

  private static void assertSigned(Remote.Seen seen, byte[] key, String id) throws Exception {
    String timestamp = seen.header("webhook-timestamp");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    String expected =
        "v1," + Base64.getEncoder().encodeToString(mac.doFinal(seen.body().getBytes()));

    assertThat(seen.header("webhook-id")).isEqualTo(id);
    assertThat(Long.parseLong(timestamp))
        .isBetween(Instant.now().getEpochSecond() - 30, Instant.now().getEpochSecond());
    assertThat(seen.header("webhook-signature")).isEqualTo(expected);
  }

  private static Receipt run(ActivityHandler handler, ActivityContext context) {
    return Await.result(HttpFixture.onContext(() -> handler.run(context)));
  }

  private static RunFailure fail(ActivityHandler handler, ActivityContext context) {
    Future<Receipt> run = HttpFixture.onContext(() -> handler.run(context));
    return (RunFailure) Await.failure(run);
  }
}
