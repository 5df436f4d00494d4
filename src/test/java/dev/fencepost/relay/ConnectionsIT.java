package dev.fencepost.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.TcpProxy;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Servers restart, connections break and hang, lanes change hands: afterwards a relay holds as many
 * sessions, connections, channels and threads as before.
 */
class ConnectionsIT {
  private static final int LANES = 8;
  private static final int POOL = 4;
  private static final Duration LONG = Duration.ofSeconds(90);

  private final FencepostConfig.Relay relay =
      RelayConfigs.with(
          RelayConfigs.relay(LANES),
          new FencepostConfig.Relay.Limits(
              1 << 20, Duration.ofSeconds(2), Duration.ofMillis(200), Duration.ofSeconds(2), 1000));
  private PostgresServer postgres;
  private RabbitServer rabbit;
  private TcpProxy toPostgres;
  private TcpProxy toRabbit;
  private Outbox outbox;
  private int written;

  /**
   * @param sessions of the relay's own purposes, by name
   * @param connections at the broker, and channels
   */
  private record Held(List<String> sessions, int connections, int channels) {}

  @BeforeEach
  void start() throws Exception {
    postgres = PostgresServer.start();
    rabbit = RabbitServer.start();
    toPostgres = TcpProxy.to(postgres.port());
    toRabbit = TcpProxy.to(rabbit.port());
    outbox = new Outbox(postgres.newDatabase());
    Databases.migrate(outbox.uri(), relay);
    try (Arrivals arrivals = new Arrivals(rabbit.uri())) {
      arrivals.declare("q", Map.of());
    }
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : Arrays.asList(toPostgres, toRabbit, rabbit, postgres)) {
      if (each != null) {
        each.close();
      }
    }
  }

  private RelayProcess process() {
    return new RelayProcess(
        RelayConfigs.database(toPostgres.uri(outbox.uri())),
        relay,
        vertx ->
            new RabbitBroker(vertx, RelayConfigs.broker(toRabbit.uri(rabbit.uri())))
                .publisher(relay.limits()));
  }

  @Test
  void whateverComesAndGoesNoneIsLeftOver() throws Exception {
    try (RelayProcess process = process()) {
      Await.until("all lanes", () -> process.lanes() == LANES);
      arrive();
      Held before =
          Await.value(
              "both of its own sessions",
              LONG,
              () -> {
                Held held = held();
                return held.sessions().size() == 2 && held.channels() == LANES ? held : null;
              });
      assertThat(before.connections()).isEqualTo(2);
      databaseComesAndGoes();
      brokerComesAndGoes();
      lanesChangeHands(process);
      Await.asserted("as before", LONG, () -> assertThat(held()).isEqualTo(before));
      assertThat(pooled()).as("sessions of the two pools").isLessThanOrEqualTo(2L * POOL);
      assertThat(threads()).isLessThanOrEqualTo(LANES);
      assertPoolIsWhole(process);
      allArrived();
    }
    Await.asserted(
        "nothing is held by one that has ended",
        LONG,
        () -> {
          assertThat(held()).isEqualTo(new Held(List.of(), 0, 0));
          assertThat(pooled()).isZero();
          assertThat(threads()).isZero();
          assertThat(toPostgres.connections() + toRabbit.connections()).isZero();
        });
  }

  private void databaseComesAndGoes() throws Exception {
    postgres.dropConnections();
    arrive();
    postgres.kill();
    postgres.restart();
    arrive();
    postgres.restart();
    arrive();
    Await.until("both of its own sessions", LONG, () -> held().sessions().size() == 2);
    toPostgres.freeze();
    Soak.pass(RelayConfigs.LEASE.ttl()); // renewals are given up after a third of it
    toPostgres.thaw();
    arrive();
  }

  private void brokerComesAndGoes() throws Exception {
    rabbit.closeAllConnections();
    arrive();
    rabbit.kill();
    rabbit.restart();
    arrive();
    toRabbit.freeze();
    write();
    // One that is saved in time stays where it was, on a connection that takes no other any more.
    String down = "select count(*) from fencepost.relay_lanes where lag_cause = 'broker_down'";
    Await.until("all are given up", LONG, () -> outbox.number(down) == LANES);
    toRabbit.thaw();
    arrive();
  }

  private void lanesChangeHands(RelayProcess process) throws Exception {
    try (RelayProcess other = process()) {
      Await.until("half the lanes", LONG, () -> other.lanes() == LANES / 2);
      arrive();
    }
    Await.until("all lanes", LONG, () -> process.lanes() == LANES);
    try (RelayJvm killed =
        RelayJvm.start(toPostgres.uri(outbox.uri()), toRabbit.uri(rabbit.uri()), LANES, 200)) {
      Await.until("half the lanes", LONG, () -> process.lanes() == LANES / 2);
      arrive();
      killed.kill();
    }
    Await.until("all lanes", LONG, () -> process.lanes() == LANES);
    arrive();
  }

  /** Rows for every lane. */
  private void write() {
    outbox.insertMany("", "q", 100, written + 1, written + 200);
    written += 200;
  }

  /** What was written is in the queue, some of it twice perhaps. */
  private void arrive() throws Exception {
    write();
    Await.until(
        written + " rows",
        LONG,
        () -> {
          try (Arrivals arrivals = new Arrivals(rabbit.uri())) {
            return arrivals.channel.messageCount("q") >= written;
          }
        });
  }

  private void allArrived() throws Exception {
    try (Arrivals arrivals = new Arrivals(rabbit.uri())) {
      arrivals.consume("q");
      arrivals.await(written, LONG);
    }
    assertThat(outbox.parked()).isZero();
  }

  private Held held() {
    return new Held(
        outbox.strings(
            "select substring(application_name from ' .*') from pg_stat_activity"
                + " where datname = current_database() and application_name like 'test-% %'"
                + " order by 1"),
        Integer.parseInt(rabbit.eval("length(rabbit_networking:connections())")),
        Integer.parseInt(rabbit.eval("length(rabbit_channel:list())")));
  }

  /** That write to the broker; an idle one may have ended. */
  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("fencepost-publish-"))
        .count();
  }

  private long pooled() {
    return outbox.number(
        "select count(*) from pg_stat_activity where datname = current_database()"
            + " and application_name like 'test-%' and application_name not like 'test-% %'");
  }

  /** Each of its connections can be had at the same time: none is still lent to somebody. */
  private static void assertPoolIsWhole(RelayProcess process) {
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < POOL; i++) {
      all.add(process.database.with(LONG, c -> c.query("select pg_sleep(1)").execute()));
    }
    long begun = System.nanoTime();
    Await.result(Future.all(all));
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
  }
}
