package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a person got wrong is told in one clear line, with the exit code that scripts rely on. */
@Timeout(180)
class BadInputIT {

  private static final Duration LONG = Duration.ofSeconds(90);

  @TempDir private Path folder;
  private String database;
  private String broker;
  private int admin;

  @BeforeEach
  void servers() {
    database = TestServers.postgres().newDatabase();
    broker = TestServers.broker().newVhost();
    admin = Ports.free();
  }

  private record Ended(int code, String out, String err) {
    /** What it says, without the lines of the log. */
    List<String> said() {
      return err.lines().filter(line -> !line.matches("\\d\\d:\\d\\d:\\d\\d.*")).toList();
    }
  }

  @Test
  void everyFaultOfAFileIsNamedAtOnce() throws IOException {
    Path file = folder.resolve("wrong.yaml");
    Files.writeString(
        file,
        "database: {pool-size: many}\nrelay: {lease: {ttl: 3s, renew-every: 2s}}\nnothing: 1\n");
    Ended checked = command("check-config", "-c", file.toString());
    assertThat(checked.code()).isEqualTo(2);
    assertThat(checked.out().lines())
        .hasSize(3)
        .anyMatch(line -> line.contains("database.pool-size: many"))
        .anyMatch(line -> line.contains("relay.lease.renew-every: 2s"))
        .anyMatch(line -> line.contains("nothing: unknown key"));
    Ended run = command("run", "-c", file.toString());
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.said()).hasSize(3).allMatch(line -> line.startsWith("fencepost run: "));
  }

  @Test
  void everyAddressThatCannotBeUsedIsNamedBeforeAnyIsTried() throws IOException {
    Path file =
        config(nowhere() + "?sslmod=require\", \"" + nowhere() + "?sslmode=foo", "amqp://h/a/b");

    Ended run = run(file);

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.said())
        .hasSize(3)
        .anyMatch(line -> line.startsWith("fencepost run: database.uris[0]: parameter \"sslmod\""))
        .anyMatch(line -> line.startsWith("fencepost run: database.uris[1]: sslmode=foo"))
        .anyMatch(line -> line.startsWith("fencepost run: broker.uris[0]: the virtual host"));
  }

  @Test
  void aFileThatIsNotThereAndAnOptionThatIsNotThere() throws IOException {
    Ended file = command("migrate", "-c", folder.resolve("none.yaml").toString());
    assertThat(file.code()).isEqualTo(2);
    assertThat(file.said()).singleElement().asString().contains("there is no such file");
    Ended option = command("migrate", "--nonsense");
    assertThat(option.code()).isEqualTo(2);
    assertThat(command("nonsense").code()).isEqualTo(2);
    assertThat(command().code()).isEqualTo(2);
  }

  @Test
  void aMissingSchemaSaysWhichCommandCreatesIt() throws IOException {
    assertRefused(run(config(database, broker)), "run `fencepost migrate -c FILE`");
  }

  @Test
  void anAdminHostThatThereIsNot() throws IOException {
    Path file = config(database, broker);
    Files.writeString(
        file,
        Files.readString(file)
            .replace("admin: {", "admin: {token: secret, host: no-such-host.invalid, "));
    assertRefused(run(file), "admin: cannot listen on no-such-host.invalid:");
  }

  @Test
  void aWrongDatabasePassword() throws IOException {
    Path file = config(PostgresServer.uriAs(database, "postgres", "wrong"), broker);
    Ended migrate = command("migrate", "-c", file.toString());
    assertThat(migrate.code()).isEqualTo(2);
    assertThat(migrate.said())
        .singleElement()
        .asString()
        .contains("password authentication failed for user \"postgres\"")
        .doesNotContain("wrong");
    assertRefused(run(file), "password authentication failed for user \"postgres\"");
  }

  @Test
  void aDatabaseUserWithoutRights() throws IOException {
    migrated();
    String role = "nobody_" + database.substring(database.lastIndexOf('/') + 1);
    PostgresServer.execute(database, "create role " + role + " login password 'pw'");
    assertRefused(
        run(config(PostgresServer.uriAs(database, role, "pw"), broker)),
        "permission denied for schema fencepost");
  }

  @Test
  void aWrongBrokerPassword() throws IOException {
    migrated();
    String user = broker.replaceAll("//.*@", "//guest:wrong@");
    assertRefused(run(config(database, user)), "login refused");
  }

  @Test
  void aBrokerUserWithoutRights() throws IOException {
    migrated();
    String user = TestServers.broker().addUser(broker, "norights" + admin, "pw", "^$", "^$", "^$");
    assertRefused(run(config(database, user)), "access to exchange 'orders'", "refused for user");
  }

  /** A handler that is in the middle of it while another queue is refused. */
  public static final class Slow implements BlockingActivityHandler {
    @Override
    public Receipt run(ActivityContext context) throws InterruptedException {
      new CountDownLatch(1).await(3, TimeUnit.SECONDS);
      return Receipt.succeeded();
    }
  }

  @Test
  void aQueueWithOtherSettingsIsRefusedWhenWhatRunsHasEnded() throws Exception {
    migrated();
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(broker);
    try (Connection connection = factory.newConnection("test");
        Channel channel = connection.createChannel()) {
      for (String queue : List.of("app.first", "app.second")) {
        channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "classic"));
      }
      AMQP.BasicProperties properties =
          new AMQP.BasicProperties.Builder().messageId("one").type("pay").deliveryMode(2).build();
      channel.confirmSelect();
      channel.basicPublish("", "app.first", properties, new byte[0]);
      channel.waitForConfirmsOrDie(30_000);
    }
    Path file = folder.resolve("two.yaml");
    // The second has much to declare before it comes to its queue: the first is well under way.
    String binding = "{exchange: orders, exchange-type: topic, routing-key: \"#\"}";
    Files.writeString(
        file,
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        relay: {enabled: false}
        admin: {port: %d}
        queues:
          first:
            queue: app.first
            activities: {pay: {kind: irreversible, handler: {class: "%s"}}}
          second:
            queue: app.second
            declare: {type: quorum, bind: [%s]}
            activities: {order.placed: {kind: effect, handler: {sql: "select :event_id"}}}
        """
            .formatted(
                database,
                broker,
                admin,
                Slow.class.getName(),
                String.join(", ", Collections.nCopies(800, binding))));

    assertRefused(run(file), "queue second: queue 'app.second' of type quorum exists with other");
    try (java.sql.Connection connection = PostgresServer.connect(database);
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery("select event_id, state from fencepost.activities")) {
      assertThat(rows.next()).as("it was begun").isTrue();
      assertThat(rows.getString("state")).isEqualTo("completed");
    }
  }

  @Test
  void commandsSayWhenADatabaseIsOutOfReach() throws IOException {
    Ended migrate = command("migrate", "-c", config(nowhere(), broker).toString());
    assertThat(migrate.code()).isEqualTo(3);
    assertThat(migrate.said())
        .singleElement()
        .asString()
        .matches("fencepost migrate: cannot reach the database at 127.0.0.1:\\d+/x: .*refused.*");
  }

  @Test
  void theServiceKeepsTryingAndSaysWhyItIsNotReady() throws Exception {
    migrated();
    try (ServiceProcess process = start(config(nowhere(), broker))) {
      process.awaitLine("database not ready: cannot reach the database", LONG);
      Await.until("health is red", LONG, () -> ready().statusCode() == 503);
      assertThat(ready().body())
          .contains("\"part\":\"database\"")
          .contains("\"code\":\"database_unreachable\"")
          .contains("cannot reach");
      assertThat(get("/health/live").statusCode()).isEqualTo(200);
      process.terminate();
      assertThat(process.awaitExit(LONG)).isZero();
      // It has tried again and again, and said it once.
      assertThat(process.lines("database not ready")).hasSize(1);
    }
  }

  @Test
  void theServiceGoesOnWhenTheBrokerComes() throws Exception {
    migrated();
    try (dev.fencepost.testing.TcpProxy proxy = dev.fencepost.testing.TcpProxy.to(broker)) {
      proxy.refuse();
      try (ServiceProcess process = start(config(database, proxy.uri(broker)))) {
        process.awaitLine("broker not ready: .*refused", LONG);
        Await.until("health is red", LONG, () -> ready().body().contains("\"part\":\"broker\""));
        proxy.accept();
        process.awaitLine("broker ready", LONG);
        Await.until("health is green", LONG, () -> ready().statusCode() == 200);
        process.terminate();
        assertThat(process.awaitExit(LONG)).isZero();
      }
    }
  }

  private static void assertRefused(Ended ended, String... said) {
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.said())
        .singleElement()
        .asString()
        .startsWith("fencepost run: ")
        .contains(said);
    assertThat(ended.err()).doesNotContain("\tat ");
  }

  private void migrated() throws IOException {
    assertThat(command("migrate", "-c", config(database, broker).toString()).code()).isZero();
  }

  private static String nowhere() {
    return "postgresql://postgres:x@127.0.0.1:" + Ports.free() + "/x";
  }

  private Path config(String databaseUri, String brokerUri) throws IOException {
    Path file = Files.createTempFile(folder, "fencepost", ".yaml");
    return Files.writeString(
        file,
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        admin: {port: %d}
        queues:
          orders:
            queue: app.orders
            declare: {type: quorum, bind: [{exchange: orders, exchange-type: topic, routing-key: "#"}]}
            activities:
              order.placed: {kind: effect, handler: {sql: "select :event_id"}}
        """
            .formatted(databaseUri, brokerUri, admin));
  }

  /** In this process. */
  private static Ended command(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err), arguments);
    return new Ended(code, out.toString(), err.toString());
  }

  /** In a process of its own, to its end. */
  private static Ended run(Path file) {
    try (ServiceProcess process = start(file)) {
      int code = process.awaitExit(LONG);
      return new Ended(code, "", process.log());
    }
  }

  private static ServiceProcess start(Path file) {
    return ServiceProcess.start(Main.class, "run", "-c", file.toString());
  }

  private HttpResponse<String> ready() throws IOException, InterruptedException {
    return get("/health/ready");
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + admin + path);
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }
}
