package dev.fencepost.cli;

import static dev.fencepost.cli.Shop.LONG;
import static dev.fencepost.cli.Shop.done;
import static dev.fencepost.cli.Shop.queue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.fencepost.admin.Browser;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What operators live through, found and settled in the console alone, in a real browser before a
 * real process with real servers; the audit log tells it afterwards. Screenshots are left in
 * target/console.
 */
@Timeout(600)
class ConsoleStoriesIT extends ShopStories {

  private static final String ROWS = "[...document.querySelectorAll('main tbody tr')]";

  private Browser browser;

  @BeforeEach
  void openBrowser() throws Exception {
    Optional<Path> program = Browser.find();
    assumeTrue(program.isPresent(), "no chromium on the PATH: the console's stories were not told");
    browser = new Browser(program.get());
    browser.look(1280, 860, false);
  }

  @AfterEach
  void closeBrowser() throws Exception {
    if (browser != null) {
      browser.close();
    }
  }

  private String url(String view) {
    return "http://127.0.0.1:" + site.port() + "/" + view;
  }

  private void signIn() {
    browser.open(url("#/flow"));
    browser.awaitText("Sign in");
    browser.type(Shop.TOKEN);
    browser.press("Enter");
    browser.awaitText("Oldest unpublished");
  }

  private void go(String view) {
    browser.clickText("#nav a", view);
  }

  /** What takes as long as servers take. */
  private void seen(String text) {
    Await.until("the page says " + text, LONG, () -> browser.text().contains(text));
  }

  private void gone(String text) {
    Await.until("the page no more says " + text, LONG, () -> !browser.text().contains(text));
  }

  private void fill(String name, String value) {
    browser.set("[name=" + name + "]", value);
  }

  /** Asks, and waits for the answer: what stood there before is gone. */
  private void find() {
    browser.await("document.querySelector('main .scroll, main .empty')");
    browser.eval(
        "document.querySelectorAll('main .scroll, main .empty')"
            + ".forEach((e) => e.classList.add('old'))");
    browser.clickText("main form button", "Find");
    browser.await("!document.querySelector('main .old')");
  }

  private void inDialog(String name, String value) {
    browser.set("dialog [name=" + name + "]", value);
  }

  /** In the light, in the dark and on a phone, where nothing sticks out. */
  private void shoot(String name) {
    shot(name, 1280, 860, false);
    shot(name + "-dark", 1280, 860, true);
    shot(name + "-phone", 390, 844, false);
    assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth"))
        .as(name + " fits a phone")
        .isEqualTo(true);
    browser.look(1280, 860, false);
  }

  private void shot(String name, int width, int height, boolean dark) {
    browser.look(width, height, dark);
    browser.screenshot(Path.of("target/console/story-" + name + ".png"));
  }

  /** The column of the table on the page, from the top. */
  private List<String> column(String head) {
    String cells =
        ROWS
            + ".map((r) => (r.querySelector('td[data-label=\""
            + head
            + "\"]') ?? {}).textContent ?? '')";
    return new JsonArray(String.valueOf(browser.eval("JSON.stringify(" + cells + ")")))
        .stream().map(String::valueOf).toList();
  }

  /** The audit log of somebody: what and why, the newest first. */
  private List<String> told(String actor) {
    go("Audit");
    browser.awaitText("Nothing deletes it.");
    fill("actor", actor);
    find();
    List<String> what = column("What");
    List<String> why = column("Why");
    return java.util.stream.IntStream.range(0, what.size())
        .mapToObj(i -> what.get(i) + ": " + why.get(i))
        .toList();
  }

  private static String quoted(String text) {
    return new JsonArray().add(text).encode() + "[0]";
  }

  /** Nothing was asked of another host, and no script failed; servers that are away may be told. */
  private void nothingWrong() {
    assertThat(browser.errors)
        .filteredOn(error -> !error.matches("(?s).*(401|409|503|ERR_CONNECTION_REFUSED).*"))
        .isEmpty();
    assertThat(browser.requests).allMatch(request -> request.startsWith("http://127.0.0.1:"));
  }

  @Test
  void aStuckKey() throws Exception {
    service = shop.start(site);
    order("shopp", "order-7", "o-1");
    order("shop", "order-7", "o-2");
    order("shopp", "order-8", "o-3");
    order("shopp", "order-9", "o-4");
    order("shop", "order-10", "o-5");
    signIn();
    seen("key_parked");
    browser.await("document.querySelector('#count-parked').textContent === '4'");
    shoot("stuck-flow");
    assertThat(browser.eval("document.querySelector('main td a.chip').getAttribute('href')"))
        .as("the cause leads to what it means")
        .isEqualTo("/triage#key_parked");

    go("Parked");
    browser.awaitText("exchange_missing");
    browser.awaitText("follows its key");
    shoot("stuck-parked");
    browser.clickInRow("o-1", "Redirect");
    inDialog("exchange", "shop");
    inDialog("operator", "anna");
    inDialog("note", "a slip in release 12");
    shoot("stuck-redirect");
    browser.clickText("dialog button", "Redirect");
    browser.awaitText("for 1 row");
    browser.clickInRow("o-4", "Skip");
    inDialog("note", "a test order");
    browser.clickText("dialog button", "Skip");
    browser.await("!document.querySelector('dialog')");
    declare("shopp");
    browser.clickInRow("o-3", "Retry now");
    browser.clickText("dialog button", "Retry now");
    browser.await("!document.querySelector('dialog')");

    shop.awaitCount("audit", 4);
    shop.awaitCount("fencepost.parked", 0);
    find();
    browser.awaitText("Nothing is parked: the broker took everything.");
    go("Flow");
    gone("key_parked");
    seen("nothing waits");
    assertThat(told("anna"))
        .containsExactlyInAnyOrder(
            "outbox_redirect: a slip in release 12",
            "outbox_skip: a test order",
            "outbox_retry: –");
    shoot("stuck-audit");
    browser.open(url("#/activities/audit/o-1"));
    browser.awaitText("a slip in release 12");
    shoot("stuck-history");
    nothingWrong();
  }

  /** What was missing, led to where the others go. */
  private void declare(String exchange) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(vhost);
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.exchangeDeclare(exchange, "fanout", true);
      channel.queueBind("shop.audit", exchange, "");
    }
  }

  @Test
  void aBlockedBroker() throws Exception {
    service = shop.start(site);
    signIn();
    browser.await("document.querySelector('#ready').textContent === 'Ready'");
    broker.memoryAlarm(true);
    try {
      order("shop", "order-1", "o-1");
      Await.until("a lane says why", LONG, () -> column("Why").contains("broker_blocked"));
      seen("Not ready — ");
      assertThat(browser.text()).contains("lane ");
      shoot("blocked-flow");
      assertThat(shop.count("audit")).isZero();
    } finally {
      broker.memoryAlarm(false);
    }
    Await.until("no lane waits", LONG, () -> Collections.frequency(column("Why"), "–") == 8);
    gone("Not ready");
    seen("nothing waits");
    shop.awaitCount("audit", 1);
    go("Audit");
    browser.awaitText("No line of the audit log passes this filter.");
    shoot("blocked-audit");
    nothingWrong();
  }

  @Test
  void aWaveOfDeadLetters() throws Exception {
    service = shop.start(site);
    PostgresServer.execute(
        shop.database,
        "select fencepost.publish(exchange => 'shop', routing_key => 'order.placed',"
            + " type => 'order.placed', payload => '{\"no\": 1}'::jsonb, event_id => 'o-' || n)"
            + " from generate_series(1, 400) n");
    signIn();
    Await.until(
        "the badge says how many",
        LONG,
        () -> "400".equals(browser.eval("document.querySelector('#count-dead').textContent")));
    shoot("wave-flow");
    go("Dead letters");
    fill("search", "has_id");
    fill("consumer", "audit");
    find();
    browser.await(ROWS + ".length === 50");
    String first = column("Event").get(0);
    browser.eval("document.querySelector('main button.link').focus()");
    browser.press("Enter");
    browser.await(
        "document.querySelector('main pre.body').textContent === " + quoted("{\"no\": 1}"));
    shoot("wave-letter");

    PostgresServer.execute(shop.database, "alter table audit drop constraint has_id");
    browser.clickInRow(first, "Select");
    browser.clickText("main .actions button", "Redrive 1 selected");
    browser.awaitText("Each event starts anew");
    inDialog("operator", "anna");
    inDialog("note", "trying one");
    browser.clickText("dialog button", "Redrive 1");
    browser.awaitText("1 redriven");
    browser.clickText("dialog button", "Close");
    shop.awaitCount("audit", 1);
    browser.clickText("main .actions button", "Redrive all that match");
    browser.awaitText("Redrive 399");
    shoot("wave-dry-run");
    assertThat(shop.count("fencepost.dead_letters where state = 'open'"))
        .as("only looked at")
        .isEqualTo(399);
    inDialog("note", "no check any more");
    inDialog("rate", "1000");
    browser.clickText("dialog button", "Redrive 399");
    seen("399 redriven");
    shoot("wave-done");
    browser.clickText("dialog button", "Close");
    browser.awaitText("No dead letter passes this filter.");

    shop.awaitCount("audit", 400);
    browser.await("document.querySelector('#count-dead').hidden");
    assertThat(told("anna")).hasSize(50).containsOnly("redrive: no check any more");
    shoot("wave-audit");
    for (int page = 2; page <= 8; page++) {
      String before = column("Event").get(0);
      browser.clickText("main button", "Older");
      browser.await("!" + ROWS + "[0].textContent.includes(" + quoted(before) + ")");
    }
    assertThat(column("Why").get(49)).as("the first of all").isEqualTo("trying one");
    assertThat(column("Event").get(49)).isEqualTo(first);
    nothingWrong();
  }

  @Test
  void workThatMustNotBeRepeated() throws Exception {
    service = shop.start(site);
    for (int pay = 1; pay <= 3; pay++) {
      shop.publish("shop", "pay.out", "p-" + pay, "{\"id\": 1}", "pay-" + pay);
    }
    signIn();
    Await.until(
        "the badge says how many",
        LONG,
        () -> "3".equals(browser.eval("document.querySelector('#count-reviews').textContent")));
    go("Reviews");
    browser.awaitText("pay-3");
    shoot("review-list");
    browser.clickText("main a", "pay-1");
    browser.awaitText("It did not happen");
    assertThat(browser.text()).contains("irreversible", "attempt started", "manual review");
    shoot("review-one");
    byKeyboard();
    seen("pay-1 is completed now");

    decide("pay-2", "failed", "the bank refused it");
    seen("pay-2 is dead now");
    open("pay-3");
    done(
        site,
        "review",
        "resolve",
        "payments",
        "pay-3",
        "--as",
        "retry",
        "--operator",
        "berta",
        "--evidence",
        "the bank never heard of it");
    answer("succeeded", "statement 18");
    Await.until(
        "a decision on what has moved is refused",
        LONG,
        () -> Boolean.TRUE.equals(browser.eval("!!document.querySelector('main .problem')")));
    shoot("review-stale");

    Await.until("the third waits again", LONG, () -> queue(site, "payments", "reviews") == 1);
    assertThat(told("anna"))
        .containsExactly(
            "review_resolved: the bank refused it", "review_resolved: statement 17, line 3");
    assertThat(told("berta")).containsExactly("review_resolved: the bank never heard of it");
    browser.open(url("#/activities/payments/pay-1"));
    browser.awaitText("statement 17, line 3");
    browser.awaitText("receipt succeeded");
    shoot("review-history");
    nothingWrong();
  }

  private void byKeyboard() {
    browser.eval("document.querySelector('input[name=as]').focus()");
    browser.press(" ");
    browser.press("Tab");
    browser.type("statement 17, line 3");
    browser.press("Tab");
    browser.type("anna");
    browser.press("Tab");
    browser.press("Enter");
  }

  private void open(String event) {
    browser.open(url("#/reviews/payments/" + event));
    browser.await("document.querySelector('main h1').textContent.includes('" + event + "')");
    browser.awaitText("It did not happen");
  }

  private void answer(String decision, String evidence) {
    browser.click("input[name=as][value=" + decision + "]");
    fill("evidence", evidence);
    browser.clickText("main form button", "Record the decision");
  }

  private void decide(String event, String decision, String evidence) {
    open(event);
    answer(decision, evidence);
  }

  @Test
  void aPasswordChangedUnderIt() throws Exception {
    String role = "shop_" + folder.getFileName().toString().replaceAll("[^a-z0-9]", "");
    PostgresServer.execute(
        shop.database, "create role " + role + " superuser login password 'one'");
    site = shop.site(PostgresServer.uriAs(shop.database, role, "one"), vhost, bank.getLocalPort());
    service = shop.start(site);
    signIn();
    PostgresServer.execute(
        shop.database,
        "alter role " + role + " password 'two'",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = '" + role + "'");
    order("shop", "order-1", "o-1");

    seen("Not ready");
    seen(role);
    assertThat(browser.text()).contains("database").doesNotContain("Asking…");
    shoot("password-flow");
    assertThat(shop.health(site, false).encode()).contains("\"code\":\"database_authentication\"");
    String file = Files.readString(site.file());
    Files.writeString(site.file(), file.replace(role + ":one@", role + ":two@"));
    service.awaitLine("reload needs a restart for: database.uris", LONG);
    service.terminate();
    assertThat(service.awaitExit(LONG)).isZero();
    seen("does not answer");
    shoot("password-stopped");
    service.close();
    service = shop.start(site);

    gone("Not ready");
    gone("does not answer");
    seen("Ready");
    shop.awaitCount("audit", 1);
    go("Audit");
    browser.awaitText("No line of the audit log passes this filter.");
    assertThat(service.log()).doesNotContain(":one@", ":two@", Shop.TOKEN);
    nothingWrong();
  }

  private Set<String> owners() {
    return new TreeSet<>(column("Owner").stream().filter(owner -> !owner.isEmpty()).toList());
  }

  @Test
  void aRollingRestart() throws Exception {
    Shop.Site other = shop.site(shop.database, vhost, bank.getLocalPort());
    Shop.Site fresh = shop.site(shop.database, vhost, bank.getLocalPort());
    service = shop.start(site);
    signIn();
    order("shop", "order-1", "o-1");
    Await.until("one owns all", LONG, () -> owners().size() == 1 && !owners().contains("nobody"));
    String first = owners().iterator().next();
    try (ServiceProcess second = shop.start(other);
        ServiceProcess third = replaced(other, fresh)) {
      Await.until(
          "both of the new ones own",
          LONG,
          () -> owners().size() == 2 && !owners().contains("nobody") && !owners().contains(first));
      order("shop", "order-2", "o-2");
      shop.awaitCount("audit", 2);
      seen("nothing waits");
      shoot("restart-flow");
      assertThat(column("Why")).doesNotContain("no_owner");
      go("Audit");
      browser.awaitText("No line of the audit log passes this filter.");
      assertThat(second.isAlive() && third.isAlive()).isTrue();
      JsonObject status = Shop.status(fresh);
      assertThat(status.getJsonArray("lanes")).hasSize(8);
    }
    nothingWrong();
  }

  /** The console goes on with another process; the first is stopped when the third is ready. */
  private ServiceProcess replaced(Shop.Site other, Shop.Site fresh) {
    Await.until("two share the lanes", LONG, () -> owners().size() == 2);
    shoot("restart-two");
    ServiceProcess third = shop.start(fresh);
    service.terminate();
    assertThat(service.awaitExit(LONG)).isZero();
    seen("does not answer");
    site = other;
    signIn();
    return third;
  }
}
