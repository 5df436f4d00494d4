package dev.fencepost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.Ports;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Dead letters by the command line, while the service runs: from the first failure to a redrive.
 */
@Timeout(300)
class RedriveIT {
  private static final Duration LONG = Duration.ofSeconds(90);
  private static final String CALLS = "REDRIVE_CALLS";

  @TempDir private Path folder;
  private String database;
  private String broker;
  private Path config;

  /** Fails while the file {@code mended} is not beside the one that it writes its calls to. */
  public static final class Shaky implements BlockingActivityHandler {
    @Override
    public Receipt run(ActivityContext context) throws IOException {
      Path calls = Path.of(System.getenv(CALLS));
      Files.writeString(
          calls, context.eventId() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      if (!Files.exists(calls.resolveSibling("mended"))) {
        throw new TransientFailure("not mended yet");
      }
      return Receipt.succeeded();
    }
  }

  @BeforeEach
  void servers() throws Exception {
    database = TestServers.postgres().newDatabase();
    broker = TestServers.broker().newVhost();
    config =
        Files.writeString(
            folder.resolve("mail.yaml"),
            """
            database: {uris: ["%s"]}
            broker: {uris: ["%s"]}
            relay: {enabled: false}
            admin: {port: %d}
            queues:
              mail:
                queue: redrive.mail
                activities:
                  order.placed:
                    kind: idempotent
                    handler: {class: "dev.fencepost.cli.RedriveIT$Shaky"}
                    retry: {max-retries: 1, base-delay: 100ms}
            """
                .formatted(database, broker, Ports.free()));
    assertThat(command("migrate").code()).isZero();
    publish("e-1", "e-2", "e-3");
  }

  /** W21, W26; and each start of a service is another owner (W17). */
  @Test
  void w21_w26_aRedriveIsANewGenerationAndASecondClickChangesNothing() throws Exception {
    try (ServiceProcess service = service()) {
      dead(1, 3);
      service.kill();
    }
    try (ServiceProcess service = service()) {
      service.awaitLine("runs relay=false worker=true", LONG);
      // Still broken: it must not die at once on its old counter, but after a whole new budget.
      assertThat(redriven(0, "--consumer", "mail").getInteger("changed")).isEqualTo(3);
      dead(2, 3);
      assertThat(ask("select string_agg(attempts::text, ' ') from fencepost.dead_letters"))
          .isEqualTo("2 2 2 2 2 2");
      assertThat(calls("e-1")).isEqualTo(4);

      Files.createFile(folder.resolve("mended"));
      long id = number("select id from fencepost.dead_letters where event_id = 'e-1' and " + OPEN);
      JsonObject one = redriven(1, Long.toString(id), "999999");
      assertThat(outcomes(one)).containsExactlyInAnyOrder("redriven", "not_found");
      Await.until("it has run", LONG, () -> completed() == 1);

      JsonObject again = redriven(0, Long.toString(id));
      assertThat(outcomes(again)).containsExactly("unchanged");
      assertThat(again.getInteger("changed")).isZero();

      JsonObject rest = redriven(0, "--consumer", "mail", "--reason", "retries_exhausted");
      assertThat(outcomes(rest)).containsExactly("redriven", "redriven");
      Await.until("all have run", LONG, () -> completed() == 3);
      assertThat(redriven(0, "--consumer", "mail").getInteger("matched")).isZero();
      assertThat(
              ask(
                  "select string_agg(generation || ':' || attempts, ' ') from fencepost.activities"))
          .isEqualTo("3:1 3:1 3:1");
      assertThat(calls("e-1")).as("the second click ran nothing").isEqualTo(5);
    }
    assertThat(number("select count(distinct worker) from fencepost.attempts")).isEqualTo(2);
    assertThat(number("select count(*) from fencepost.audit_log where actor = 'anna'"))
        .as("each redrive is on record")
        .isEqualTo(6);
  }

  private static final String OPEN = "state = 'open'";

  private ServiceProcess service() {
    return ServiceProcess.start(
        Main.class,
        Map.of(CALLS, folder.resolve("calls").toString()),
        "run",
        "-c",
        config.toString());
  }

  private void publish(String... ids) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(broker);
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.queueDeclare("redrive.mail", true, false, false, Map.of("x-queue-type", "quorum"));
      for (String id : ids) {
        AMQP.BasicProperties properties =
            new AMQP.BasicProperties.Builder()
                .messageId(id)
                .type("order.placed")
                .deliveryMode(2)
                .build();
        channel.basicPublish("", "redrive.mail", properties, new byte[] {1});
      }
      channel.waitForConfirmsOrDie(30_000);
    }
  }

  /** All are dead in this generation, each with a dead letter of its own. */
  private void dead(int generation, int count) {
    Await.until(
        "dead in generation " + generation,
        LONG,
        () ->
            number(
                    "select count(*) from fencepost.dead_letters d join fencepost.activities a using"
                        + " (consumer, event_id, generation) where a.state = 'dead' and d.state ="
                        + " 'open' and d.reason = 'retries_exhausted' and generation = "
                        + generation)
                == count);
  }

  private long completed() {
    return number("select count(*) from fencepost.activities where state = 'completed'");
  }

  private long calls(String id) throws IOException {
    return Files.readAllLines(folder.resolve("calls")).stream().filter(id::equals).count();
  }

  private record Ran(int code, String out, String err) {}

  private Ran command(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] all = Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "-c";
    all[arguments.length + 1] = config.toString();
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), all);
    return new Ran(code, out.toString(), err.toString());
  }

  private JsonObject redriven(int code, String... which) {
    String[] all = Arrays.copyOf(new String[] {"dead-letters", "redrive"}, which.length + 5);
    System.arraycopy(which, 0, all, 2, which.length);
    System.arraycopy(new String[] {"--operator", "anna", "--json"}, 0, all, which.length + 2, 3);
    Ran ran = command(all);
    assertThat(ran.code()).as(ran.out() + ran.err()).isEqualTo(code);
    return new JsonObject(ran.out());
  }

  private static List<String> outcomes(JsonObject result) {
    return result.getJsonArray("items").stream()
        .map(item -> ((JsonObject) item).getString("outcome"))
        .toList();
  }

  private long number(String sql) {
    return Long.parseLong(ask(sql));
  }

  private String ask(String sql) {
    try (java.sql.Connection connection = PostgresServer.connect(database);
        ResultSet row = connection.createStatement().executeQuery(sql)) {
      row.next();
      return row.getString(1);
    } catch (java.sql.SQLException e) {
      throw new AssertionError(e);
    }
  }
}
