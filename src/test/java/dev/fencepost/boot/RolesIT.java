package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fencepost.api.Receipt;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The roles of docs/deployment.md suffice: its statements are run as they stand. */
@Timeout(120)
class RolesIT {

  private static final Pattern STATEMENTS =
      Pattern.compile("<!-- roles -->\\n```sql\\n(?<sql>.*?)```", Pattern.DOTALL);

  private final String owner = TestServers.postgres().newDatabase();
  private final String broker = TestServers.broker().newVhost();
  private final String name = "service_" + owner.substring(owner.lastIndexOf('/') + 1);
  private final String service = PostgresServer.uriAs(owner, name, "change-me");

  private FencepostConfig config(String database) {
    return ConfigLoader.parse(
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        relay: {lanes: 2, retention: 1m}
        worker: {sweep-every: 200ms, shutdown-deadline: 5s}
        metrics: {jmx: false}
        queues:
          mail:
            queue: app.mail
            declare: {type: classic, bind: [{exchange: app, exchange-type: topic, routing-key: "#"}]}
            activities:
              mail: {kind: idempotent, handler: {class: x.Y}}
              audit:
                kind: effect
                handler: {sql: "insert into audit values (:event_id)"}
        """
            .formatted(database, broker),
        Map.of());
  }

  private long count(String from) throws SQLException {
    try (Connection connection = PostgresServer.connect(owner);
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("select count(*) from " + from)) {
      found.next();
      return found.getLong(1);
    }
  }

  @Test
  void theServiceRoleCanDoItsWork() throws Exception {
    new Schema(config(owner)).migrate(null);
    PostgresServer.execute(owner, documented(name));
    PostgresServer.execute(
        owner,
        "create table audit (event_id text)",
        "grant insert on audit to " + name,
        "insert into fencepost.outbox (event_id, exchange, routing_key, type, payload)"
            + " select 'e-' || g, 'app', 'x', case when g % 2 = 0 then 'audit' else 'mail' end,"
            + " '{}'::bytea from generate_series(1, 20) g",
        "select fencepost.publish(exchange => 'app', routing_key => 'x', type => 'mail',"
            + " payload => '{}', deliver_at => now() + interval '1s')",
        "select fencepost.publish(exchange => 'nowhere', routing_key => 'x', type => 'mail',"
            + " payload => '{}')");
    Vertx vertx = Vertx.vertx();
    FencepostConfig config = config(service);
    CodeHandlers handlers =
        new CodeHandlers()
            .register(
                "mail",
                "mail",
                new BoundHandler.Async(c -> Future.succeededFuture(Receipt.succeeded())));
    Service running =
        new Service(
            vertx,
            config,
            new Parts(true, true, false),
            new Service.Wiring(handlers, Telemetry.of(config)));
    Await.result(running.start());

    Await.until(
        "all is done",
        Duration.ofSeconds(30),
        () ->
            count("fencepost.activities where state = 'completed'") == 21
                && count("audit") == 10
                && count("fencepost.parked") == 1);

    Await.result(running.stop());
    Await.result(vertx.close());
  }

  private static String documented(String role) throws IOException {
    Matcher found = STATEMENTS.matcher(Files.readString(Path.of("docs/deployment.md")));
    assertThat(found.find()).isTrue();
    return found.group("sql").replace("fencepost_service", role);
  }

  @Test
  void itMayEmptyASlotOfTheOutboxAndNeverTheAuditLog() throws Exception {
    new Schema(config(owner)).migrate(null);
    PostgresServer.execute(owner, documented(name));
    PostgresServer.execute(
        service,
        "begin; lock table fencepost.outbox_0 in access exclusive mode;"
            + " truncate fencepost.outbox_0; commit");
    assertThatThrownBy(() -> PostgresServer.execute(service, "truncate fencepost.audit"))
        .hasStackTraceContaining("audit");
    assertThatThrownBy(() -> PostgresServer.execute(service, "drop table fencepost.outbox"))
        .hasStackTraceContaining("must be owner");
  }
}
