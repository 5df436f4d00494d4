package dev.fencepost.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.FakeStores;
import dev.fencepost.operations.Readiness;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminApiTest {
  private final FakeStores stores = new FakeStores();
  private AdminServer server;

  @BeforeEach
  void start() throws Exception {
    server = AdminServer.withToken(stores);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  @Test
  void notReadySaysWhy() throws Exception {
    server.reasons.add(
        new Readiness.Reason("queue mail", "broker_unreachable", "does not consume since 12s"));

    HttpResponse<Buffer> response = server.get("/health/ready");

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.bodyAsJsonObject().getString("status")).isEqualTo("DOWN");
    assertThat(response.bodyAsString()).contains("queue mail", "does not consume since 12s");
  }

  @Test
  void statusHasLanesQueuesAndLiveNumbers() throws Exception {
    stores.lanes.add(FakeStores.row("lane", 3L, "owner", "r-1", "lag_cause", "key_parked"));

    JsonObject status = server.get("/api/v1/status").bodyAsJsonObject();

    assertThat(status.getJsonArray("lanes").getJsonObject(0).getString("lag_cause"))
        .isEqualTo("key_parked");
    assertThat(status.getJsonArray("queues")).isEmpty();
    JsonObject sample = status.getJsonObject("live").getJsonArray("samples").getJsonObject(0);
    assertThat(sample.getString("name")).isEqualTo("fencepost_relay_published_total");
    assertThat(sample.getJsonObject("labels").getString("lane")).isEqualTo("3");
    assertThat(sample.getDouble("value")).isEqualTo(41.0);
  }

  @Test
  void listsArePagedByKey() throws Exception {
    for (int i = 1; i <= 5; i++) {
      stores.activity("mail", "e-" + i, ActivityState.RUNNING, 1);
    }
    List<String> seen = new ArrayList<>();
    String after = "";
    do {
      JsonObject page =
          server.get("/api/v1/activities?limit=2&state=running" + after).bodyAsJsonObject();
      JsonArray items = page.getJsonArray("items");
      items.forEach(item -> seen.add(((JsonObject) item).getString("event_id")));
      after = page.getString("next") == null ? null : "&after=" + page.getString("next");
    } while (after != null);

    assertThat(seen).containsExactly("e-1", "e-2", "e-3", "e-4", "e-5");
  }

  @Test
  void theAuditLogIsPagedAndFiltered() throws Exception {
    stores.audited("anna", "redrive", "e-1", "the remote is back");
    stores.audited("berta", "outbox_skip", "e-2", "a test order");
    stores.audited("anna", "discard", "e-3", null);

    JsonObject first = server.get("/api/v1/audit?limit=2").bodyAsJsonObject();
    JsonObject second =
        server.get("/api/v1/audit?limit=2&after=" + first.getString("next")).bodyAsJsonObject();

    assertThat(first.getJsonArray("items"))
        .extracting(line -> ((JsonObject) line).getString("event_id"))
        .containsExactly("e-3", "e-2");
    JsonObject line = second.getJsonArray("items").getJsonObject(0);
    assertThat(line.fieldNames())
        .contains(
            "at",
            "actor",
            "action",
            "consumer",
            "event_id",
            "generation",
            "fence",
            "evidence",
            "detail");
    assertThat(line.getString("evidence")).isEqualTo("the remote is back");
    assertThat(second.getString("next")).isNull();
    for (String filter :
        new String[] {"actor=berta", "action=outbox_skip", "event_id=e-2&actor=berta"}) {
      assertThat(server.get("/api/v1/audit?" + filter).bodyAsJsonObject().getJsonArray("items"))
          .as(filter)
          .hasSize(1);
    }
    HttpResponse<Buffer> refused = server.get("/api/v1/audit?since=yesterday");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.bodyAsString()).contains("since", "yesterday", "2h");
  }

  @Test
  void anActivityIsFoundByAnyId() throws Exception {
    stores.activity("mail", "order/7 ä?x", ActivityState.MANUAL_REVIEW, 2);

    JsonObject found =
        server.get("/api/v1/activities/mail/order%2F7%20%C3%A4%3Fx").bodyAsJsonObject();

    assertThat(found.getString("event_id")).isEqualTo("order/7 ä?x");
    assertThat(found.getJsonArray("timeline")).hasSize(4);
    assertThat(server.get("/api/v1/activities/mail/none").statusCode()).isEqualTo(404);
  }

  @Test
  void aReviewIsDecided() throws Exception {
    stores.activity("mail", "e-1", ActivityState.MANUAL_REVIEW, 2);
    JsonObject decision =
        new JsonObject()
            .put("as", "succeeded")
            .put("operator", "anna")
            .put("evidence", "bank statement 17")
            .put("fence", 2);

    assertThat(server.get("/api/v1/reviews").bodyAsJsonObject().getJsonArray("items")).hasSize(1);
    HttpResponse<Buffer> stale =
        server.post("/api/v1/reviews/mail/e-1/decision", decision.copy().put("fence", 1));
    HttpResponse<Buffer> done = server.post("/api/v1/reviews/mail/e-1/decision", decision);

    assertThat(stale.statusCode()).isEqualTo(409);
    assertThat(stale.bodyAsJsonObject().getString("kind")).isEqualTo("stale");
    assertThat(done.statusCode()).isEqualTo(200);
    assertThat(done.bodyAsJsonObject().getString("state")).isEqualTo("completed");
    assertThat(stores.reviewed).hasSize(1);
  }

  @Test
  void deadLettersAreRedrivenItemByItem() throws Exception {
    for (long id = 1; id <= 3; id++) {
      stores.deadLetter(id, "mail", "retries_exhausted");
    }
    JsonObject request =
        new JsonObject()
            .put("filter", new JsonObject().put("consumer", "mail"))
            .put("dryRun", true);

    JsonObject dry = server.post("/api/v1/dead-letters/redrive", request).bodyAsJsonObject();
    JsonObject done =
        server
            .post(
                "/api/v1/dead-letters/redrive",
                new JsonObject().put("ids", new JsonArray().add(1).add(99)).put("operator", "anna"))
            .bodyAsJsonObject();

    assertThat(dry.getInteger("matched")).isEqualTo(3);
    assertThat(dry.getInteger("changed")).isZero();
    assertThat(done.getInteger("changed")).isEqualTo(1);
    assertThat(done.getInteger("failed")).isEqualTo(1);
    assertThat(done.getJsonArray("items").stream().map(i -> ((JsonObject) i).getString("outcome")))
        .containsExactlyInAnyOrder("redriven", "not_found");
    assertThat(
            server.get("/api/v1/dead-letters").bodyAsJsonObject().getJsonArray("items").stream()
                .map(i -> ((JsonObject) i).getLong("id")))
        .containsExactly(3L, 2L);
    assertThat(server.get("/api/v1/dead-letters/1").bodyAsJsonObject().getString("state"))
        .isEqualTo("redriven");
    assertThat(
            server.get("/api/v1/dead-letters?state=all").bodyAsJsonObject().getJsonArray("items"))
        .hasSize(3);
  }

  @Test
  void parkedRowsAreAskedFor() throws Exception {
    stores.parked(7, "order-1", "missing", "exchange_missing");

    assertThat(server.get("/api/v1/parked").bodyAsJsonObject().getJsonArray("items")).hasSize(1);
    JsonObject done =
        server
            .post(
                "/api/v1/parked/redirect",
                new JsonObject()
                    .put("key", "order-1")
                    .put("exchange", "orders")
                    .put("operator", "anna"))
            .bodyAsJsonObject();

    assertThat(done.getJsonArray("items").getJsonObject(0).getString("outcome"))
        .isEqualTo("requested");
    assertThat(stores.requested).containsExactly("REDIRECT [7] anna orders");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redrive | {\"consumer\":\"mail\"} | operator: is missing",
        "redrive | {\"operator\":\"a\"} | all: is missing",
        "redrive | {\"dryrun\":true,\"operator\":\"a\"} | dryrun: is not a field of this request",
        "redrive | {\"reason\":\"bad\",\"operator\":\"a\"} | reason: \"bad\" is not allowed",
        "redrive | {\"ids\":[\"x\"],\"operator\":\"a\"} | ids: \"x\" is not allowed",
        "redrive | {\"rate\":0,\"operator\":\"a\"} | rate: \"0\" is not allowed",
        "redrive | [] | body: is not a JSON object",
        "redrive | {nonsense | body: is not a JSON object",
        "discard | {\"since\":\"soon\",\"operator\":\"a\"} | since: \"soon\" is not allowed",
        "discard | {\"dry_run\":\"yes\"} | dry_run: \"yes\" is not allowed"
      })
  void wrongInputIsExplained(String action, String body, String expected) throws Exception {
    HttpResponse<Buffer> response =
        AdminServer.await(
            server
                .request(io.vertx.core.http.HttpMethod.POST, "/api/v1/dead-letters/" + action)
                .bearerTokenAuthentication(AdminServer.TOKEN)
                .putHeader("Content-Type", "application/json")
                .sendBuffer(Buffer.buffer(body)));

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.getHeader("Content-Type")).isEqualTo("application/problem+json");
    assertThat(response.bodyAsJsonObject().getString("detail")).startsWith(expected);
    assertThat(stores.chunks).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "exchange | a\0b | exchange: \"a?b\" is not allowed",
        "routing_key | a\0b | routing_key: \"a?b\" is not allowed",
      })
  void aRedirectToWhatCannotBeIsExplained(String field, String value, String expected)
      throws Exception {
    stores.parked(7, "order-1", "missing", "exchange_missing");
    JsonObject asked =
        new JsonObject().put("key", "order-1").put("operator", "anna").put("exchange", "orders");

    HttpResponse<Buffer> response = server.post("/api/v1/parked/redirect", asked.put(field, value));

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.bodyAsJsonObject().getString("detail")).startsWith(expected);
    assertThat(stores.requested).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/api/v1/activities?limit=0, limit",
    "/api/v1/activities?limit=many, limit",
    "/api/v1/activities?state=stuck, state",
    "/api/v1/activities?after=xyz, after",
    "/api/v1/dead-letters?since=soon, since",
    "/api/v1/dead-letters/first, id",
    "/api/v1/parked?reason=none, reason"
  })
  void wrongQueriesAreExplained(String path, String field) throws Exception {
    HttpResponse<Buffer> response = server.get(path);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.bodyAsJsonObject().getString("detail")).startsWith(field + ":");
  }

  @Test
  void outagesAndFaultsAreToldApartAndHideNothingUseful() throws Exception {
    stores.deadLetter(1, "mail", "poison_message");
    stores.onChange =
        id -> {
          throw new FencepostException(FailureKind.DATABASE_UNREACHABLE, "database: refused");
        };
    JsonObject all = new JsonObject().put("operator", "anna").put("all", true);

    HttpResponse<Buffer> outage = server.post("/api/v1/dead-letters/redrive", all);
    stores.lanes.add(null);
    HttpResponse<Buffer> fault = server.get("/api/v1/status");

    assertThat(outage.statusCode()).isEqualTo(503);
    assertThat(outage.getHeader("Retry-After")).isEqualTo("1");
    assertThat(outage.bodyAsJsonObject().getString("detail")).isEqualTo("database: refused");
    assertThat(fault.statusCode()).isEqualTo(500);
    assertThat(fault.bodyAsString()).doesNotContain("NullPointer");
    assertThat(server.get("/nothing").bodyAsJsonObject().getString("kind")).isEqualTo("not_found");
  }
}
