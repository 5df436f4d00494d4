package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.admin.AdminParts;
import dev.fencepost.admin.AdminVerticle;
import dev.fencepost.cli.Main;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.Migrations;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line and HTTP over one database: the same answers. */
class OperatorsIT {
  @TempDir private static Path folder;
  private static Vertx vertx;
  private static String uri;
  private static PgDatabase database;
  private static AdminVerticle admin;
  private static WebClient client;

  @BeforeAll
  static void start() throws Exception {
    vertx = Vertx.vertx();
    uri = TestServers.postgres().newDatabase();
    String yaml =
        "database: {uris: [\""
            + uri
            + "\"]}\n"
            + "admin: {host: 127.0.0.1, port: 0, token: \"secret\"}\n"
            + "queues: {mail: {queue: app.mail, activities: {order.placed: {kind: pure, handler:"
            + " {class: java.lang.Object}}}}}\n";
    Files.writeString(folder.resolve("fencepost.yaml"), yaml);
    FencepostConfig config = ConfigLoader.parse(yaml, Map.of());
    Await.result(new Migrations(vertx, config).migrate());
    database = PgDatabase.open(vertx, config.database(), "test");
    admin =
        new AdminVerticle(
            new AdminParts(
                config.operation().admin(),
                Operating.on(vertx, database, config),
                () -> Future.succeededFuture(List.of()),
                new AdminParts.Metrics(() -> "", List::of, false)));
    Await.result(vertx.deployVerticle(admin));
    client = WebClient.create(vertx);
  }

  @AfterAll
  static void stop() {
    Await.result(database.close());
    Await.result(vertx.close());
  }

  @BeforeEach
  void fill() {
    PostgresServer.execute(
        uri,
        "truncate fencepost.activity, fencepost.attempt, fencepost.receipt, fencepost.dead_letter,"
            + " fencepost.claim_batch, fencepost.parked_rows",
        "insert into fencepost.activity (consumer, event_id, type, kind, state, waits, attempts, fence,"
            + " attempt_fence, owner, started_at, ended_at, outcome, error_message) values"
            + " ('mail', 'order/7 ä', 'order.placed', 'irreversible', 'manual_review', 'manual_review', 1, 2, 1,"
            + " 'w-1', now() - interval '1m', now(), 'unknown', 'no answer'), ('mail', 'e-2',"
            + " 'order.placed', 'pure', 'completed', null, 1, 1, 1, 'w-1', now(), now(), 'succeeded',"
            + " null)",
        "insert into fencepost.dead_letter (consumer, event_id, generation, type, reason, attempts,"
            + " error_message, body, headers, properties) select 'mail', 'd-' || g, 1,"
            + " 'order.placed', 'retries_exhausted', 4, E'first line\\nsecond', '\\x7b7d', '{}',"
            + " '{}' from generate_series(1, 3) g",
        "insert into fencepost.parked_rows (lane, seq, tx, event_id, exchange, routing_key, type,"
            + " key, payload, content_type, headers, properties, created_at, reason) values"
            + " (1, 7, 1, 'p-7', 'missing', 'r', 't', 'order-7', '', 'text/plain', '{}', '{}',"
            + " now(), 'exchange_missing')",
        "insert into fencepost.audit (actor, action, consumer, event_id, fence, evidence) values"
            + " ('anna', 'redrive', 'mail', 'd-1', 3, 'the remote is back'),"
            + " ('w-1', 'takeover', 'mail', 'e-2', 2, null)");
  }

  private record Ran(int code, String out, String err) {}

  private static Ran run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] all = Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "-c";
    all[arguments.length + 1] = folder.resolve("fencepost.yaml").toString();
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), all);
    return new Ran(code, out.toString(), err.toString());
  }

  private static JsonObject get(String path) {
    return Await.result(
        client
            .get(admin.port(), "127.0.0.1", path)
            .bearerTokenAuthentication("secret")
            .send()
            .map(HttpResponse::bodyAsJsonObject));
  }

  private static JsonObject post(String path, JsonObject body) {
    return Await.result(
        client
            .post(admin.port(), "127.0.0.1", path)
            .bearerTokenAuthentication("secret")
            .sendJsonObject(body)
            .map(HttpResponse::bodyAsJsonObject));
  }

  private static void same(String path, String... arguments) {
    Ran ran = run(arguments);
    assertThat(ran.code()).as(ran.err()).isZero();
    JsonArray items = get(path).getJsonArray("items");
    assertThat(items).isNotEmpty();
    assertThat(new JsonArray(ran.out())).isEqualTo(items);
  }

  @Test
  void listsAreTheSame() {
    same("/api/v1/activities", "activities", "list", "--json");
    same(
        "/api/v1/activities?state=completed",
        "activities",
        "list",
        "--json",
        "--state",
        "completed");
    same("/api/v1/reviews", "review", "list", "--json");
    same("/api/v1/dead-letters", "dead-letters", "list", "--json");
    same("/api/v1/dead-letters?search=d-2", "dead-letters", "list", "--json", "--search", "d-2");
    same("/api/v1/parked", "outbox", "parked", "--json");
    same("/api/v1/audit", "audit", "list", "--json");
    same("/api/v1/audit?actor=anna", "audit", "list", "--json", "--actor", "anna");
  }

  @Test
  void statusAndHistoryAreTheSame() {
    JsonObject status = get("/api/v1/status");
    JsonObject queue = status.getJsonArray("queues").getJsonObject(0);
    assertThat(queue.getString("consumer")).isEqualTo("mail");
    assertThat(queue.getInteger("reviews")).isEqualTo(1);
    assertThat(queue.getInteger("dead_letters")).isEqualTo(3);
    status.remove("live");
    assertThat(new JsonObject(run("status", "--json").out())).isEqualTo(status);

    JsonObject shown =
        new JsonObject(run("activities", "show", "mail", "order/7 ä", "--json").out());
    assertThat(shown.getString("state")).isEqualTo("manual_review");
    assertThat(get("/api/v1/activities/mail/order%2F7%20%C3%A4")).isEqualTo(shown);
    long id = get("/api/v1/dead-letters").getJsonArray("items").getJsonObject(0).getLong("id");
    assertThat(get("/api/v1/dead-letters/" + id))
        .isEqualTo(new JsonObject(run("dead-letters", "show", "" + id, "--json").out()));
  }

  @Test
  void dryRunsAreTheSameAndChangeNothing() {
    JsonObject over =
        post(
            "/api/v1/dead-letters/redrive",
            new JsonObject().put("consumer", "mail").put("dry_run", true));

    Ran ran = run("dead-letters", "redrive", "--consumer", "mail", "--dry-run", "--json");

    assertThat(ran.code()).isZero();
    assertThat(new JsonObject(ran.out())).isEqualTo(over);
    assertThat(over.getInteger("matched")).isEqualTo(3);
    assertThat(get("/api/v1/dead-letters").getJsonArray("items")).hasSize(3);
  }

  @Test
  void decisionsOfBothDoorsStandInTheSameLog() {
    JsonObject decision =
        new JsonObject().put("as", "succeeded").put("operator", "berta").put("evidence", "seen");
    String path = "/api/v1/reviews/mail/order%2F7%20%C3%A4/decision";

    JsonObject stale = post(path, decision.copy().put("fence", 1));
    Ran done =
        run(
            "review",
            "resolve",
            "mail",
            "order/7 ä",
            "--as",
            "failed",
            "--operator",
            "anna",
            "--evidence",
            "statement 17",
            "--fence",
            "2",
            "--json");
    JsonObject late = post(path, decision);

    assertThat(stale.getInteger("status")).isEqualTo(409);
    assertThat(done.code()).as(done.err()).isZero();
    assertThat(new JsonObject(done.out()).getString("state")).isEqualTo("dead");
    assertThat(late.getInteger("status")).isEqualTo(409);
    JsonObject shown = get("/api/v1/activities/mail/order%2F7%20%C3%A4");
    assertThat(shown.getJsonArray("dead_letters").getJsonObject(0).getString("reason"))
        .isEqualTo("permanent_failure");
    assertThat(run("activities", "show", "mail", "order/7 ä").out())
        .containsPattern("review_resolved +by anna fence=2 evidence=statement 17");
  }

  @Test
  void aRedriveOfBothDoorsIsDoneOnce() {
    PostgresServer.execute(
        uri,
        "insert into fencepost.activity (consumer, event_id, type, kind, state, fence) select"
            + " consumer, event_id, type, 'idempotent', 'dead', 1 from fencepost.dead_letter");
    JsonArray letters = get("/api/v1/dead-letters").getJsonArray("items");
    String id = letters.getJsonObject(0).getLong("id").toString();

    Ran one = run("dead-letters", "redrive", id, "--operator", "anna", "--json");
    JsonObject rest =
        post(
            "/api/v1/dead-letters/redrive",
            new JsonObject().put("consumer", "mail").put("operator", "berta"));
    Ran again = run("dead-letters", "redrive", id, "--operator", "anna", "--json");

    assertThat(one.code()).as(one.out() + one.err()).isZero();
    assertThat(new JsonObject(one.out()).getInteger("changed")).isEqualTo(1);
    assertThat(rest.getInteger("changed")).isEqualTo(2);
    assertThat(again.code()).isZero();
    assertThat(new JsonObject(again.out()).getInteger("changed")).isZero();
    assertThat(get("/api/v1/dead-letters").getJsonArray("items")).isEmpty();
    assertThat(get("/api/v1/activities?state=retry_scheduled").getJsonArray("items")).hasSize(3);
  }

  @Test
  void aDeadLetterIsDiscardedAndStaysOnRecord() {
    JsonArray letters = get("/api/v1/dead-letters").getJsonArray("items");
    String id = letters.getJsonObject(0).getLong("id").toString();

    Ran done = run("dead-letters", "discard", id, "9999999", "--operator", "anna");

    assertThat(done.code()).isEqualTo(1);
    assertThat(done.out()).contains("discarded", "9999999", "not_found");
    assertThat(get("/api/v1/dead-letters").getJsonArray("items")).hasSize(2);
    assertThat(get("/api/v1/dead-letters/" + id).getString("state")).isEqualTo("discarded");
  }

  @Test
  void parkedRowsAreAskedForByKey() {
    Ran ran =
        run(
            "outbox",
            "redirect",
            "order-7",
            "--exchange",
            "orders",
            "--operator",
            "anna",
            "--note",
            "a slip in release 12");

    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("7", "requested");
    JsonObject over =
        post(
            "/api/v1/parked/skip",
            new JsonObject().put("seq", 7).put("operator", "berta").put("note", "a test order"));
    assertThat(over.getJsonArray("items").getJsonObject(0).getString("outcome"))
        .isEqualTo("requested");
    // It has no activity: what was done with its row is its whole story, whoever asks.
    Ran story = run("activities", "show", "mail", "p-7");
    assertThat(story.code()).as(story.err()).isZero();
    assertThat(story.out())
        .contains("no activity: only what was done with its row of the outbox is known")
        .containsPattern("outbox_redirect +by anna evidence=a slip in release 12 detail=seq=7")
        .containsPattern("outbox_skip +by berta evidence=a test order");
  }

  @Test
  void tablesForPeopleAreOneLineARow() {
    Ran ran = run("dead-letters", "list");

    assertThat(ran.out().lines()).hasSize(4);
    assertThat(ran.out()).contains("first line·second");
    assertThat(run("status").out()).contains("no_owner").contains("mail");
  }

  @Test
  void whatIsNotThereIsRefusedAlike() {
    Ran ran = run("activities", "show", "mail", "nobody");
    JsonObject problem = get("/api/v1/activities/mail/nobody");

    assertThat(ran.code()).isEqualTo(1);
    assertThat(problem.getInteger("status")).isEqualTo(404);
    assertThat(ran.err()).contains(problem.getString("detail"));
    assertThat(run("outbox", "skip", "nothing", "--operator", "anna").code()).isEqualTo(1);
  }

  @Test
  void anOutageIsExitCode3AndAWrongPassword2() throws Exception {
    Path away = folder.resolve("away.yaml");
    Files.writeString(away, "database: {uris: [\"postgresql://127.0.0.1:1/none\"]}\n");
    Path wrong = folder.resolve("wrong.yaml");
    Files.writeString(
        wrong, "database: {uris: [\"" + PostgresServer.uriAs(uri, "postgres", "not-it") + "\"]}\n");
    StringWriter err = new StringWriter();
    PrintWriter sink = new PrintWriter(err, true);

    assertThat(Main.run(sink, sink, "status", "-c", away.toString())).isEqualTo(3);
    assertThat(Main.run(sink, sink, "status", "-c", wrong.toString())).isEqualTo(2);
    assertThat(err.toString()).doesNotContain("not-it").doesNotContain("\tat ");
  }
}
