package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A little shop in production, as its operators see it: the commands, HTTP, and what an application
 * may write. Its events are recorded by an effect, its payments go to a remote that never answers.
 */
final class Shop {
  static final Duration LONG = Duration.ofSeconds(180);
  static final String TOKEN = "a-token-of-the-shop";

  final String database;
  private final Path folder;
  private final HttpClient http = HttpClient.newHttpClient();

  /**
   * @param database for its owner
   */
  Shop(Path folder, String database) {
    this.folder = folder;
    this.database = database;
  }

  /** One process of it: where it is configured, and where it listens. */
  record Site(Path file, int port) {}

  /** A configuration of its own port; the processes share database and broker. */
  Site site(String databaseUri, String broker, int pay) throws Exception {
    int port = Ports.free();
    Path file =
        Files.writeString(
            folder.resolve("shop-" + port + ".yaml"),
            """
            database: {uris: ["%s"]}
            broker: {uris: ["%s"]}
            relay: {lease: {ttl: 4s, renew-every: 1s}}
            worker: {sweep-every: 1s}
            admin: {port: %d, token: "%s"}
            queues:
              audit:
                queue: shop.audit
                declare: {bind: [{exchange: shop, routing-key: "order.#"}]}
                activities:
                  order.placed:
                    kind: effect
                    handler: {sql: "insert into audit values (:event_id, :payload::jsonb)"}
              payments:
                queue: shop.payments
                declare: {bind: [{exchange: shop, routing-key: "pay.#"}]}
                activities:
                  pay.out:
                    kind: irreversible
                    handler: {http: {url: "http://127.0.0.1:%d/pay"}}
                    limits: {soft: 300ms, hard: 500ms}
            """
                .formatted(databaseUri, broker, port, TOKEN, pay));
    return new Site(file, port);
  }

  /** Creates the schema, and the table that the effect writes. */
  void open(Site site) {
    assertThat(run(site, "migrate").code()).isZero();
    PostgresServer.execute(
        database,
        "create table audit (event_id text, doc jsonb, constraint has_id check (doc ? 'id'))");
  }

  ServiceProcess start(Site site) {
    ServiceProcess service = ServiceProcess.start(Main.class, "run", "-c", site.file().toString());
    service.await("is ready", LONG, () -> health(site, false).getString("status").equals("UP"));
    return service;
  }

  /** What a command says, and how it ends. */
  record Said(int code, String out, String err) {}

  static Said run(Site site, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<String> line = new ArrayList<>(List.of(words));
    line.addAll(List.of("-c", site.file().toString()));
    int code = Main.run(new PrintWriter(out), new PrintWriter(err), line.toArray(String[]::new));
    return new Said(code, out.toString(), err.toString());
  }

  /** A command that is to succeed. */
  static String done(Site site, String... words) {
    Said said = run(site, words);
    assertThat(said.code()).as(String.join(" ", words) + "\n" + said).isZero();
    return said.out();
  }

  static JsonObject status(Site site) {
    return new JsonObject(done(site, "status", "--json"));
  }

  /** How the queue of a consumer stands, by a name of {@code status --json}. */
  static int queue(Site site, String consumer, String count) {
    return status(site).getJsonArray("queues").stream()
        .map(JsonObject.class::cast)
        .filter(queue -> queue.getString("consumer").equals(consumer))
        .mapToInt(queue -> queue.getInteger(count))
        .sum();
  }

  static List<String> causes(Site site) {
    return status(site).getJsonArray("lanes").stream()
        .map(lane -> ((JsonObject) lane).getString("lag_cause"))
        .filter(cause -> !cause.equals("none"))
        .toList();
  }

  JsonObject health(Site site, boolean withToken) throws Exception {
    try {
      return new JsonObject(send(site, "/health/ready", null, withToken).body());
    } catch (java.net.ConnectException notUpYet) {
      return new JsonObject().put("status", "AWAY").put("reasons", new JsonArray());
    }
  }

  JsonObject get(Site site, String path) throws Exception {
    HttpResponse<String> answer = send(site, path, null, true);
    assertThat(answer.statusCode()).as(path + " " + answer.body()).isEqualTo(200);
    return new JsonObject(answer.body());
  }

  /** A change, as the console makes it. */
  HttpResponse<String> post(Site site, String path, JsonObject body) throws Exception {
    return send(site, path, body, true);
  }

  private HttpResponse<String> send(Site site, String path, JsonObject body, boolean withToken)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + site.port() + path));
    if (withToken) {
      request.header("Authorization", "Bearer " + TOKEN);
    }
    if (body != null) {
      request
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body.encode()));
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Writes an event, as an application does. */
  void publish(String exchange, String type, String key, String body, String eventId) {
    try (Connection connection = PostgresServer.connect(database);
        PreparedStatement call =
            connection.prepareStatement(
                "select fencepost.publish(exchange => ?, routing_key => ?, type => ?, key => ?,"
                    + " payload => ?::jsonb, event_id => ?)")) {
      List<String> values = List.of(exchange, type, type, key, body, eventId);
      for (int i = 0; i < values.size(); i++) {
        call.setString(i + 1, values.get(i));
      }
      call.execute();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  long count(String from) throws SQLException {
    try (Connection connection = PostgresServer.connect(database);
        ResultSet row = connection.createStatement().executeQuery("select count(*) from " + from)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Waits until as many rows are there. */
  void awaitCount(String from, long expected) {
    Await.until(expected + " of " + from, LONG, () -> count(from) == expected);
  }

  /** What the audit log says: actor, action, evidence of each line of an event, in order. */
  static List<String> told(Site site, String consumer, String event) {
    return new JsonObject(done(site, "activities", "show", consumer, event, "--json"))
        .getJsonArray("audit_log").stream()
            .map(JsonObject.class::cast)
            .map(
                line ->
                    line.getString("actor")
                        + " "
                        + line.getString("action")
                        + ": "
                        + line.getString("evidence"))
            .toList();
  }
}
