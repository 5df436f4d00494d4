package dev.fencepost.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.LiveMetrics;
import dev.fencepost.operations.Readiness;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TcpProxy;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process speaks of its own lanes alone: of one that it no longer owns nothing is left. */
@Timeout(120)
class DroppedLanesIT {
  private static final int LANES = 4;
  private static final String OWNED =
      "select count(*) from fencepost.relay_lanes where owner is not null";

  /** Owners of half of the lanes. */
  private static final String SHARED =
      "select count(*) from (select owner from fencepost.relay_lanes where owner is not null"
          + " group by owner having count(*) = 2) half";

  private final Vertx vertx = Vertx.vertx();
  private final String database = TestServers.postgres().newDatabase();
  private final String broker = TestServers.broker().newVhost();
  private final TcpProxy proxy = TcpProxy.to(broker);
  private final List<Service> running = new ArrayList<>();
  private LiveMetrics live;
  private Service service;

  @BeforeEach
  void start() throws Exception {
    FencepostConfig config = config(proxy.uri(broker));
    new Schema(config).migrate(null);
    Telemetry telemetry = Telemetry.of(config);
    live = telemetry.live();
    service = started(config, telemetry);
    Await.until("all lanes", () -> number(OWNED) == LANES);
  }

  @AfterEach
  void stop() {
    proxy.close();
    running.forEach(each -> Await.result(each.stop()));
    Await.result(vertx.close());
  }

  @Test
  void aLaneHandedOverDuringAnOutageKeepsNobodyUnready() throws Exception {
    proxy.refuse();
    proxy.cut();
    Await.until("every lane has stopped", () -> lanes("broker_down") == LANES);
    Await.until("it says so", this::relayStands);
    FencepostConfig direct = config(broker);
    started(direct, Telemetry.of(direct));
    Await.until("they share", () -> number(SHARED) == 2);

    proxy.accept();
    Await.until("no lane stands still", () -> lanes("none") == LANES);
    Await.until("it is ready again", () -> !relayStands());
  }

  @Test
  void theMessagesOfALostLaneAreNotItsOwnAnyMore() throws Exception {
    declareQueue();
    String row =
        "insert into fencepost.outbox (routing_key, type, key, payload)"
            + " values ('q', 't', 'k', '{}')";
    PostgresServer.execute(database, row);
    Await.until("its channel works", () -> sum("fencepost_relay_published_total") == 1);
    proxy.freeze(TcpProxy.Direction.ANSWERS);
    PostgresServer.execute(database, row);
    Await.until("it is out", () -> sum("fencepost_relay_unconfirmed") == 1);
    String lane = String.valueOf(number("select max(lane) from fencepost.outbox"));
    Await.until("its age is told", () -> ages().contains(lane));

    PostgresServer.execute(
        database,
        "update fencepost.relay_leases set owner = 'another', fence = fence + 1 where lane = "
            + lane,
        "update fencepost.relay_reports set lease_until = now() + interval '1 hour' where lane = "
            + lane);
    Await.until("it is lost", () -> sum("fencepost_relay_lanes_owned") == LANES - 1);
    assertThat(sum("fencepost_relay_unconfirmed")).isZero();
    assertThat(ages()).doesNotContain(lane);
  }

  private void declareQueue() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(broker);
    try (com.rabbitmq.client.Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.queueDeclare("q", true, false, false, null);
    }
  }

  private FencepostConfig config(String uri) {
    return ConfigLoader.parse(
        """
        database: {uris: ["%s"]}
        broker: {uris: ["%s"]}
        relay: {lanes: %d, lease: {ttl: 9s, renew-every: 300ms}}
        metrics: {jmx: false}
        """
            .formatted(database, uri, LANES),
        Map.of());
  }

  private Service started(FencepostConfig config, Telemetry telemetry) {
    Service made =
        new Service(
            vertx,
            config,
            new Parts(true, false, false),
            new Service.Wiring(new CodeHandlers(), telemetry));
    running.add(made);
    Await.result(made.start());
    return made;
  }

  private boolean relayStands() {
    List<Readiness.Reason> reasons = Await.result(service.readiness().reasons());
    return reasons.stream().anyMatch(reason -> reason.part().equals("relay"));
  }

  private double sum(String name) {
    return live.samples().stream()
        .filter(sample -> sample.name().equals(name))
        .mapToDouble(LiveMetrics.Sample::value)
        .sum();
  }

  /** Lanes whose age is told. */
  private List<String> ages() {
    return live.samples().stream()
        .filter(s -> s.name().equals("fencepost_relay_oldest_unpublished_age_seconds"))
        .map(sample -> sample.labels().get("lane"))
        .toList();
  }

  /** Owned lanes with this cause. */
  private long lanes(String cause) throws SQLException {
    return number(
        "select count(*) from fencepost.relay_lanes where owner is not null and lag_cause = '"
            + cause
            + "'");
  }

  private long number(String sql) throws SQLException {
    try (Connection connection = PostgresServer.connect(database);
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getLong(1);
    }
  }
}
