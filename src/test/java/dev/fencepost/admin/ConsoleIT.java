package dev.fencepost.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.fencepost.model.ActivityState;
import dev.fencepost.operations.BoundedCount;
import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.DeadLetterChanges;
import dev.fencepost.operations.FakeStores;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.operations.Readiness;
import dev.fencepost.operations.Status;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The console in a real browser. Screenshots are left in target/console. */
class ConsoleIT {
  private final FakeStores stores = new FakeStores();
  private AdminServer server;
  private Browser browser;

  @BeforeEach
  void start() throws Exception {
    Optional<Path> program = Browser.find();
    assumeTrue(
        program.isPresent(), "no chromium on the PATH: the console was not tried in a browser");
    fill();
    server = AdminServer.withToken(stores);
    metrics(1);
    browser = new Browser(program.get());
    browser.look(1280, 860, false);
  }

  @AfterEach
  void stop() throws Exception {
    if (browser != null) {
      browser.close();
      server.close();
    }
  }

  private void fill() {
    Instant now = Instant.now();
    String[] causes = {
      "none", "none", "key_parked", "none", "transaction_invisible", "none", "none", "none"
    };
    for (int lane = 0; lane < 8; lane++) {
      boolean lags = !causes[lane].equals("none");
      stores.lanes.add(
          FakeStores.row(
              "lane",
              (long) lane,
              "owner",
              lane % 2 == 0 ? "relay-7f3a-41" : "relay-b02c-17",
              "lease_until",
              now.plusSeconds(8),
              "fence",
              12L + lane,
              "position",
              1_204_331L + lane,
              "backlog",
              lags ? 1840L : 12L,
              "oldest_unpublished_at",
              lags ? now.minusSeconds(30 + 20L * lane) : null,
              "lag_cause",
              causes[lane],
              "parked",
              lane == 2 ? 3L : 0L));
    }
    BoundedCount none = new BoundedCount(0, false);
    stores.queues.add(
        new Status.QueueStatus(
            "notifications",
            new Status.QueueStatus.Waiting(
                new BoundedCount(42, false),
                new BoundedCount(7, false),
                new BoundedCount(118, false),
                none),
            new Status.QueueStatus.Ended(
                new BoundedCount(2, false), none, BoundedCount.ofFound(10_001))));
    stores.queues.add(
        new Status.QueueStatus(
            "payments",
            new Status.QueueStatus.Waiting(new BoundedCount(3, false), none, none, none),
            new Status.QueueStatus.Ended(none, none, none)));
    stores.activity("payments", "order/7 <i>x</i>", ActivityState.MANUAL_REVIEW, 2);
    stores.activity("payments", "pay-8812", ActivityState.MANUAL_REVIEW, 1);
    stores.activity("payments", "pay-8813", ActivityState.COMPLETED, 1);
    for (long id = 1; id <= 7; id++) {
      stores.deadLetter(id, "notifications", id % 3 == 0 ? "poison_message" : "retries_exhausted");
    }
    Map<String, Object> binary =
        new java.util.LinkedHashMap<>(stores.deadLetters.get(7L).columns());
    binary.put("body", new byte[] {0, 1, (byte) 0xff, 'A', 'B'});
    binary.put("body_size", 5L);
    binary.put("error_class", "java.net.http.HttpTimeoutException");
    binary.put("headers", new JsonObject().put("fencepost-key", "order-7"));
    stores.deadLetters.put(7L, new dev.fencepost.operations.ViewRow(binary));
    Map<String, Object> script =
        new java.util.LinkedHashMap<>(stores.deadLetters.get(6L).columns());
    script.put(
        "body", "{\"note\":\"<img src=x onerror=alert(1)>\"}".getBytes(StandardCharsets.UTF_8));
    stores.deadLetters.put(6L, new dev.fencepost.operations.ViewRow(script));
    stores.parked(7, "order-1", "missing", "exchange_missing");
    stores.parked(8, "order-1", "missing", "behind_key");
  }

  private void metrics(int factor) {
    server.samples.clear();
    for (int lane = 0; lane < 8; lane++) {
      sample("fencepost_relay_published_total", Map.of("lane", "" + lane), 5000.0 * factor);
    }
    sample("fencepost_relay_confirm_seconds_count", Map.of(), 40000.0 * factor);
    sample("fencepost_relay_confirm_seconds_sum", Map.of(), 190.0 * factor);
    sample("fencepost_relay_unconfirmed", Map.of(), 311);
    Map<String, String> type = Map.of("queue", "notifications", "type", "order.placed");
    sample("fencepost_worker_in_flight", type, 42);
    sample("fencepost_worker_run_seconds_count", type, 9100.0 * factor);
    sample("fencepost_worker_run_seconds_sum", type, 1200.0 * factor);
    sample("fencepost_worker_run_seconds_max", type, 14.2);
    sample("fencepost_worker_amplification", type, 1.04);
    sample("fencepost_worker_leaked_slots", type, 2);
    sample("fencepost_worker_activities_total", type, 9000.0 * factor);
  }

  private void sample(String name, Map<String, String> labels, double value) {
    server.samples.add(new LiveMetrics.Sample(name, labels, value));
  }

  private String url(String path) {
    return "http://127.0.0.1:" + server.port + path;
  }

  private void signIn() {
    browser.open(url("/"));
    browser.awaitText("Sign in");
    browser.type(AdminServer.TOKEN);
    browser.press("Enter");
    browser.awaitText("Oldest unpublished");
  }

  private void shoot(String name) {
    browser.screenshot(Path.of("target/console", name + ".png"));
  }

  private void nothingWrong() {
    assertThat(browser.errors.stream().filter(e -> !e.contains("401"))).isEmpty();
    assertThat(browser.requests)
        .isNotEmpty()
        .allMatch(request -> request.startsWith(url("/")) || request.startsWith("about:"));
  }

  @Test
  void aWrongTokenIsRefusedAndTheRightOneShowsTheFlow() {
    browser.open(url("/"));
    browser.awaitText("Sign in");
    shoot("sign-in");
    browser.type("wrong");
    browser.press("Enter");
    browser.awaitText("this is not the token");
    browser.type(AdminServer.TOKEN);
    browser.press("Enter");
    browser.awaitText("transaction_invisible");
    metrics(2);
    browser.awaitText("10,000+");
    browser.await("document.querySelector('#count-reviews').textContent === '2'");
    browser.await(
        "document.querySelector('.spark polyline').getAttribute('points').split(' ').length > 2");
    assertThat(browser.text()).contains("1.04×", "payments", "relay-7f3a-41");
    shoot("flow-light");
    browser.look(1280, 860, true);
    shoot("flow-dark");
    browser.look(390, 844, false);
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth"))
        .as("nothing sticks out on a phone")
        .isEqualTo(true);
    shoot("flow-phone");
    assertThat(browser.eval("sessionStorage.length")).isEqualTo(1);
    browser.click("#sign-out");
    browser.awaitText("Sign in");
    assertThat(browser.eval("sessionStorage.length")).isEqualTo(0);
    nothingWrong();
  }

  @Test
  void notReadyIsShownWithItsReason() {
    server.reasons.add(
        new Readiness.Reason("queue mail", "broker_unreachable", "does not consume since 12s"));
    signIn();
    browser.awaitText("Not ready — queue mail: does not consume since 12s");
  }

  @Test
  void aReviewIsDecidedByKeyboardAlone() {
    signIn();
    browser.open(url("/#/reviews"));
    browser.awaitText("pay-8812");
    shoot("reviews");
    browser.clickText("main a", "order/7 <i>x</i>");
    browser.awaitText("It did not happen");
    shoot("review");
    browser.look(390, 844, false);
    shoot("review-phone");
    browser.look(1280, 860, false);
    browser.eval("document.querySelector('input[name=as]').focus()");
    browser.press(" ");
    browser.press("Tab");
    browser.type("bank statement 17, line 3");
    browser.press("Tab");
    browser.type("anna");
    browser.press("Tab");
    browser.press("Enter");
    browser.awaitText("is completed now");

    assertThat(stores.reviewed).hasSize(1);
    assertThat(stores.reviewed.get(0).eventId()).isEqualTo("order/7 <i>x</i>");
    assertThat(stores.reviewed.get(0).evidence()).isEqualTo("bank statement 17, line 3");
    assertThat(stores.reviewed.get(0).fence()).isEqualTo(2);
    nothingWrong();
  }

  @Test
  void deadLettersAreSearchedLookedIntoAndRedriven() {
    stores.onChange =
        id ->
            id == 3
                ? new DeadLetterChanges.Change(3, BulkResult.Outcome.FAILED, "its body is gone")
                : null;
    signIn();
    browser.open(url("/#/dead-letters"));
    browser.awaitText("e-7");
    browser.clickText("main button.link", "7");
    browser.awaitText("000000  00 01 ff 41 42");
    browser.clickText("main button.link", "6");
    browser.awaitText("<img src=x onerror=alert(1)>");
    assertThat(browser.eval("document.querySelectorAll('main img').length")).isEqualTo(0);
    shoot("dead-letters");
    browser.look(390, 844, true);
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    shoot("dead-letters-phone-dark");
    browser.look(1280, 860, false);
    browser.set("input[name=search]", "e-7");
    browser.clickText("main form button", "Find");
    browser.await("document.querySelectorAll('main tbody tr').length === 1");
    browser.set("input[name=search]", "");
    browser.clickText("main .actions button", "Redrive all that match");
    browser.awaitText("Redrive 7");
    shoot("redrive-dry-run");
    assertThat(stores.chunks).as("only looked at").isEmpty();
    browser.set("dialog input[name=operator]", "anna");
    browser.clickText("dialog button", "Redrive 7");
    browser.awaitText("6 redriven");
    browser.awaitText("its body is gone");
    shoot("redrive-result");
    nothingWrong();
  }

  @Test
  void aParkedKeyIsRedirected() {
    signIn();
    browser.open(url("/#/parked"));
    browser.awaitText("exchange_missing");
    shoot("parked");
    browser.clickText("main button", "Redirect");
    browser.set("dialog input[name=exchange]", "orders");
    browser.set("dialog input[name=operator]", "anna");
    browser.clickText("dialog button", "Redirect");
    browser.awaitText("Asked the owner of lane 3 for 2 rows");
    assertThat(stores.requested).containsExactly("REDIRECT [7, 8] anna orders");

    browser.clickText("main button", "Skip");
    browser.clickText("dialog button", "Skip");
    assertThat(browser.eval("document.querySelector('dialog input[name=note]').validity.valid"))
        .as("giving an event up needs a reason")
        .isEqualTo(false);
    browser.set("dialog input[name=note]", "a test order");
    shoot("parked-skip");
    browser.look(390, 844, true);
    shoot("parked-skip-phone-dark");
    browser.clickText("dialog button", "Skip");
    browser.awaitText("Asked the owner of lane 3 for 1 row");
    assertThat(stores.requested).endsWith("SKIP [7] anna  because a test order");
    nothingWrong();
  }

  @Test
  void anEventsHistoryIsATimeline() {
    signIn();
    browser.open(url("/#/activities/payments/pay-8812"));
    browser.awaitText("attempt unknown");
    assertThat(browser.eval("document.querySelectorAll('.timeline li:not(.day)').length"))
        .isEqualTo(4);
    shoot("activity");
    nothingWrong();
  }

  @Test
  void theAuditLogIsSearched() {
    stores.audited("worker-7f3a-41", "takeover", "order/7 <i>x</i>", null);
    stores.audited("anna", "review_resolved", "pay-8812", "bank statement 17, line 3");
    for (int i = 0; i < 60; i++) {
      stores.audited("anna", "redrive", "e-" + i, "the remote is back");
    }
    stores.audited("berta", "outbox_skip", "e-7", "a test order, <b>as anna said</b>");
    signIn();
    browser.clickText("nav a", "Audit");
    browser.awaitText("a test order, <b>as anna said</b>");
    shoot("audit");
    browser.look(390, 844, true);
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    shoot("audit-phone-dark");
    browser.look(1280, 860, false);
    browser.clickText("main button", "Older");
    browser.awaitText("bank statement 17, line 3");
    browser.eval("document.querySelector('input[name=actor]').focus()");
    browser.type("berta");
    browser.press("Enter");
    browser.await("document.querySelectorAll('main tbody tr').length === 1");
    browser.set("input[name=actor]", "");
    browser.set("select[name=action]", "takeover");
    browser.clickText("main form button", "Find");
    browser.awaitText("worker-7f3a-41");
    nothingWrong();
  }

  @Test
  void theTriagePageIsTheOneOfTheDocs() {
    browser.open(url("/triage#manual_review"));
    browser.awaitText("Redelivery is not retry.");
    browser.await("document.querySelectorAll('main table').length >= 4");
    assertThat(browser.eval("document.querySelector('#manual_review').tagName")).isEqualTo("H3");
    shoot("triage");
    nothingWrong();
  }

  @Test
  void filesAreRevalidatedByTag() throws Exception {
    HttpResponse<Buffer> first = server.get("/console/console.css");
    HttpResponse<Buffer> again =
        AdminServer.await(
            server
                .request(HttpMethod.GET, "/console/console.css")
                .putHeader("If-None-Match", first.getHeader("ETag"))
                .send());
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(server.get("/console/js/nothing.js").statusCode()).isEqualTo(404);
  }
}
