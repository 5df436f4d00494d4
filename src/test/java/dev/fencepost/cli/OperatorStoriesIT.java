package dev.fencepost.cli;

import static dev.fencepost.cli.Shop.LONG;
import static dev.fencepost.cli.Shop.causes;
import static dev.fencepost.cli.Shop.done;
import static dev.fencepost.cli.Shop.queue;
import static dev.fencepost.cli.Shop.run;
import static dev.fencepost.cli.Shop.told;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What operators live through, found and settled by commands and by HTTP alone, and told by the
 * audit log: docs/triage.md, tried.
 */
@Timeout(600)
class OperatorStoriesIT extends ShopStories {

  private static JsonObject by(String operator, String note) {
    return new JsonObject().put("operator", operator).put("note", note);
  }

  private static JsonObject json(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return new JsonObject(answer.body());
  }

  @Test
  void aStuckKey() throws Exception {
    service = shop.start(site);
    order("shopp", "order-7", "o-1");
    order("shop", "order-7", "o-2");
    order("shopp", "order-8", "o-3");
    order("shopp", "order-9", "o-4");
    order("shop", "order-10", "o-5");
    shop.awaitCount("audit", 1);
    Await.until("status says why", LONG, () -> causes(site).contains("key_parked"));
    Await.until("all wait", LONG, () -> shop.count("fencepost.parked") == 4);
    assertThat(done(site, "outbox", "parked", "--key", "order-7"))
        .containsPattern("o-1 +order-7 +shopp +order.placed +exchange_missing")
        .containsPattern("o-2 +order-7 +shop +order.placed +behind_key");
    assertThat(shop.get(site, "/api/v1/parked?reason=exchange_missing").getJsonArray("items"))
        .hasSize(3);

    done(
        site,
        "outbox",
        "redirect",
        "order-7",
        "--exchange",
        "shop",
        "--operator",
        "anna",
        "--note",
        "a slip in release 12");
    json(
        shop.post(
            site,
            "/api/v1/parked/redirect",
            by("berta", "as anna did").put("key", "order-8").put("exchange", "shop")));
    done(site, "outbox", "skip", "order-9", "--operator", "anna", "--note", "a test order");

    shop.awaitCount("audit", 4);
    shop.awaitCount("fencepost.parked", 0);
    assertThat(told(site, "audit", "o-1"))
        .containsExactly("anna outbox_redirect: a slip in release 12");
    assertThat(told(site, "audit", "o-3")).containsExactly("berta outbox_redirect: as anna did");
    assertThat(told(site, "audit", "o-4"))
        .as("it has no activity, and its story is told all the same")
        .containsExactly("anna outbox_skip: a test order");
    assertThat(done(site, "audit", "list", "--since", "1h"))
        .as("and all of it in one list")
        .containsSubsequence(
            "anna", "outbox_skip", "a test order", "berta", "as anna did", "a slip in release 12");
    Await.until("nothing lags", LONG, () -> causes(site).isEmpty());
  }

  @Test
  void aBlockedBroker() throws Exception {
    service = shop.start(site);
    broker.memoryAlarm(true);
    try {
      order("shop", "order-1", "o-1");
      Await.until(
          "health says why",
          LONG,
          () -> shop.health(site, false).encode().contains("\"code\":\"broker_blocked\""));
      assertThat(causes(site)).containsOnly("broker_blocked");
      assertThat(shop.count("audit")).isZero();
    } finally {
      broker.memoryAlarm(false);
    }
    shop.awaitCount("audit", 1);
    Await.until(
        "it is ready", LONG, () -> shop.health(site, false).getString("status").equals("UP"));
    assertThat(shop.count("fencepost.parked")).as("it has cost no row anything").isZero();
  }

  @Test
  void aWaveOfDeadLetters() throws Exception {
    service = shop.start(site);
    PostgresServer.execute(
        shop.database,
        "select fencepost.publish(exchange => 'shop', routing_key => 'order.placed',"
            + " type => 'order.placed', payload => '{\"no\": 1}'::jsonb, event_id => 'o-' || n)"
            + " from generate_series(1, 400) n");
    Await.until("all are dead", LONG, () -> queue(site, "audit", "dead_letters") == 400);
    JsonObject one =
        shop.get(site, "/api/v1/dead-letters?consumer=audit&limit=1")
            .getJsonArray("items")
            .getJsonObject(0);
    assertThat(one.getString("reason")).isEqualTo("permanent_failure");
    assertThat(one.getString("error_message")).contains("has_id");

    PostgresServer.execute(shop.database, "alter table audit drop constraint has_id");
    String id = one.getLong("id").toString();
    done(site, "dead-letters", "redrive", id, "--operator", "anna", "--note", "trying one");
    shop.awaitCount("audit", 1);
    assertThat(done(site, "dead-letters", "redrive", "--consumer", "audit", "--dry-run"))
        .contains("dry run: 399 would be redriven");
    assertThat(
            done(
                site,
                "dead-letters",
                "redrive",
                "--consumer",
                "audit",
                "--since",
                "1h",
                "--until",
                "0s",
                "--rate",
                "2000",
                "--operator",
                "anna",
                "--note",
                "no check any more"))
        .contains("399 redriven");
    JsonObject again =
        json(
            shop.post(
                site,
                "/api/v1/dead-letters/redrive",
                by("berta", "a second click").put("consumer", "audit")));
    assertThat(again.getInteger("changed")).isZero();

    shop.awaitCount("audit", 400);
    assertThat(queue(site, "audit", "dead_letters")).isZero();
    assertThat(told(site, "audit", one.getString("event_id")))
        .containsExactly("anna redrive: trying one");
    assertThat(
            shop.count(
                "fencepost.audit_log where actor = 'anna' and action = 'redrive'"
                    + " and evidence = 'no check any more'"))
        .isEqualTo(399);
  }

  @Test
  void workThatMustNotBeRepeated() throws Exception {
    service = shop.start(site);
    for (int pay = 1; pay <= 3; pay++) {
      shop.publish("shop", "pay.out", "p-" + pay, "{\"id\": 1}", "pay-" + pay);
    }
    Await.until("they wait for a person", LONG, () -> queue(site, "payments", "reviews") == 3);
    assertThat(done(site, "review", "list")).contains("pay-1", "pay-2", "pay-3", "irreversible");
    assertThat(done(site, "review", "show", "payments", "pay-1"))
        .contains("attempt started", "manual_review");
    long fence = shop.get(site, "/api/v1/reviews/payments/pay-2").getLong("fence");
    String decision = "/api/v1/reviews/payments/pay-2/decision";
    JsonObject failed =
        new JsonObject()
            .put("as", "failed")
            .put("operator", "berta")
            .put("evidence", "the bank refused it");
    assertThat(shop.post(site, decision, failed.copy().put("fence", fence - 1)).statusCode())
        .as("it has moved since")
        .isEqualTo(409);

    done(
        site,
        "review",
        "resolve",
        "payments",
        "pay-1",
        "--as",
        "succeeded",
        "--operator",
        "anna",
        "--evidence",
        "statement 17, line 3");
    json(shop.post(site, decision, failed.put("fence", fence)));
    done(
        site,
        "review",
        "resolve",
        "payments",
        "pay-3",
        "--as",
        "retry",
        "--operator",
        "anna",
        "--evidence",
        "the bank never heard of it");

    assertThat(told(site, "payments", "pay-1").get(told(site, "payments", "pay-1").size() - 1))
        .isEqualTo("anna review_resolved: statement 17, line 3");
    assertThat(told(site, "payments", "pay-2"))
        .contains("berta review_resolved: the bank refused it");
    assertThat(done(site, "dead-letters", "list")).contains("pay-2", "the bank refused it");
    Await.until(
        "the third had one start more, and nobody knows again",
        LONG,
        () ->
            shop.count(
                    "fencepost.activities where event_id = 'pay-3' and attempts = 2"
                        + " and state = 'manual_review'")
                == 1);
    assertThat(
            run(
                    site,
                    "review",
                    "resolve",
                    "payments",
                    "pay-1",
                    "--as",
                    "failed",
                    "--operator",
                    "carla",
                    "--evidence",
                    "too late")
                .code())
        .isEqualTo(1);
  }

  @Test
  void aPasswordChangedUnderIt() throws Exception {
    String role = "shop_" + folder.getFileName().toString().replaceAll("[^a-z0-9]", "");
    PostgresServer.execute(
        shop.database, "create role " + role + " superuser login password 'one'");
    String mine = broker.addUser(vhost, role, "one", ".*", ".*", ".*");
    site = shop.site(PostgresServer.uriAs(shop.database, role, "one"), mine, bank.getLocalPort());
    service = shop.start(site);

    PostgresServer.execute(
        shop.database,
        "alter role " + role + " password 'two'",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = '" + role + "'");
    refused("database_authentication", role);
    assertThat(run(site, "status").code()).as("a command says so at once").isEqualTo(2);
    order("shop", "order-1", "o-1");
    PostgresServer.execute(shop.database, "alter role " + role + " password 'one'");
    shop.awaitCount("audit", 1);
    recovered();

    broker.ctl("change_password", role, "two");
    broker.closeAllConnections();
    refused("broker_authentication", role);
    order("shop", "order-2", "o-2");
    broker.ctl("change_password", role, "one");
    shop.awaitCount("audit", 2);
    recovered();

    assertThat(service.isAlive()).isTrue();
    assertThat(service.log()).doesNotContain(":one@", ":two@");
    assertThat(shop.count("fencepost.dead_letters")).isZero();
    assertThat(shop.count("fencepost.parked")).isZero();
  }

  /** Everyone is told the code, the holder of the token who was refused. */
  private void refused(String code, String role) throws Exception {
    Await.until(
        "health says " + code,
        LONG,
        () -> shop.health(site, false).encode().contains("\"code\":\"" + code + "\""));
    Await.until("the token says more", LONG, () -> shop.health(site, true).encode().contains(role));
    assertThat(shop.health(site, false).encode()).doesNotContain(role);
  }

  @Test
  void aRollingRestart() throws Exception {
    Shop.Site other = shop.site(shop.database, vhost, bank.getLocalPort());
    AtomicBoolean writing = new AtomicBoolean(true);
    AtomicInteger written = new AtomicInteger();
    ServiceProcess first = shop.start(site);
    ServiceProcess second = shop.start(other);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              while (writing.get()) {
                int n = written.incrementAndGet();
                order("shop", "order-" + n % 20, "o-" + n);
              }
            });
    try {
      for (int turn = 0; turn < 2; turn++) {
        long before = shop.count("audit");
        Shop.Site fresh = shop.site(shop.database, vhost, bank.getLocalPort());
        ServiceProcess next = shop.start(fresh);
        first.terminate();
        assertThat(first.awaitExit(LONG)).isZero();
        first.close();
        first = second;
        second = next;
        site = fresh;
        Await.until("it gets on", LONG, () -> shop.count("audit") > before + 50);
      }
      writing.set(false);
      writer.join();
      shop.awaitCount("audit", written.get());
      assertThat(shop.count("(select distinct event_id from audit) each")).isEqualTo(written.get());
      assertThat(shop.count("fencepost.audit_log")).as("nothing was taken over").isZero();
      assertThat(shop.count("fencepost.dead_letters")).isZero();
      assertThat(queue(site, "payments", "reviews")).isZero();
      assertThat(
              shop.status(site).getJsonArray("lanes").stream()
                  .map(lane -> ((JsonObject) lane).getString("owner")))
          .as("every lane has an owner")
          .doesNotContainNull();
    } finally {
      writing.set(false);
      first.close();
      second.close();
    }
  }
}
