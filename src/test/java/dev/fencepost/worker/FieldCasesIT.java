package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.pg.PgActivityStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cases from incidents that need two processes, or a database that plays along: real servers. */
class FieldCasesIT {
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final Death NEVER = new Death(Stage.NONE, "KILL");
  private static final int SLOTS = 4;

  private final String queue = "field." + System.nanoTime();
  private String database;
  private String broker;
  private Remote remote;

  @BeforeEach
  void servers() {
    database = WorkerProcess.database();
    broker = TestServers.broker().newVhost();
    remote = new Remote(database);
  }

  private WorkerProcess worker(QueueConfig config) {
    return new WorkerProcess(database, broker, NEVER, List.of(config));
  }

  /** As the usual queue, but its idempotent type has few slots and these times. */
  private QueueConfig with(Duration hard, Duration backoff) {
    ActivityConfig.Retry retry =
        new ActivityConfig.Retry(10, backoff, 2, backoff.multipliedBy(10), 0, 20);
    return new DifferentType(SLOTS, DifferentType.USUAL_LEASE, hard, null, retry)
        .in(queue, "idempotent");
  }

  private void send(String type, String... ids) throws Exception {
    Publishing.toQueue(broker, queue, type, ids);
  }

  private static String[] ids(String prefix, int count) {
    return java.util.stream.IntStream.range(0, count)
        .mapToObj(i -> prefix + "-" + i)
        .toArray(String[]::new);
  }

  private long count(String condition) {
    return remote.number("select count(*) from fencepost.activities where " + condition);
  }

  /** More delayed retries than the prefetch: none is held or given back to the broker. */
  @Test
  void w07_w09_delayedRetriesAreInTheDatabaseAndLeaveThePrefetchToNewWork() throws Exception {
    QueueConfig config = with(Duration.ofSeconds(20), Duration.ofHours(1));
    int delayed = config.intake().prefetch() + 36;
    send("idempotent", ids("flaky", delayed));
    try (WorkerProcess worker = worker(config)) {
      Await.until("they wait", DEADLINE, () -> count("state = 'retry_scheduled'") == delayed);
      send("idempotent", "new");
      Await.until("new work runs", DEADLINE, () -> "completed".equals(remote.state("new")));
      Await.until("acknowledged", DEADLINE, () -> worker.events.acknowledged == delayed + 1);
      assertThat(worker.events.delivered).as("nothing comes twice").isEqualTo(delayed + 1);
      assertThat(count("redeliveries > 0")).isZero();
      assertThat(count("state = 'retry_scheduled' and retries = 1 and attempts = 1"))
          .isEqualTo(delayed);
    }
    try (Publishing publishing = new Publishing(broker)) {
      assertThat(publishing.channel.queueDeclarePassive(queue).getMessageCount())
          .as("left in the queue")
          .isZero();
    }
  }

  /** All retries fall due in one moment: they take the slots of their type in turn. */
  @Test
  void w10_retriesThatFallDueAtOncePassTheSameGates() throws Exception {
    int delayed = 60;
    send("idempotent", ids("flaky", delayed));
    try (WorkerProcess worker = worker(with(Duration.ofSeconds(20), Duration.ofHours(1)))) {
      Await.until("they wait", DEADLINE, () -> count("state = 'retry_scheduled'") == delayed);
      PostgresServer.execute(
          database, "update fencepost.activity set next_attempt_at = now() + interval '1 second'");
      Await.until("all are done", DEADLINE, () -> count("state = 'completed'") == delayed);
      assertThat(worker.events.highestInFlight).isBetween(1, SLOTS);
      assertThat(remote.number("select max(n) from (" + TOGETHER + ") t"))
          .isBetween(1L, (long) SLOTS);
    }
  }

  /** How many second starts were open at the moment of each second start. */
  private static final String TOGETHER =
      "select count(*) n from fencepost.attempts a join fencepost.attempts b on b.started_at <="
          + " a.started_at and b.ended_at > a.started_at where a.fence = 2 and b.fence = 2 group by"
          + " a.event_id";

  /** The one that stops keeps its lease while it waits for its last run. */
  @Test
  void w12_whileAProcessStopsNobodyTakesItsRunOver() throws Exception {
    QueueConfig config = with(Duration.ofSeconds(60), Duration.ofSeconds(1));
    WorkerProcess first = worker(config);
    try {
      send("idempotent", "silent-w12");
      Await.until("it runs", DEADLINE, () -> "running".equals(remote.state("silent-w12")));
      try (WorkerProcess second = worker(config)) {
        CompletableFuture<Void> stopping = CompletableFuture.runAsync(first::close);
        send("idempotent", "other");
        Await.until("the second works", DEADLINE, () -> "completed".equals(remote.state("other")));
        long expired = System.nanoTime() + WorkerProcess.TTL.plusSeconds(2).toNanos();
        Await.until("more than a lease", DEADLINE, () -> System.nanoTime() > expired);
        assertThat(remote.state("silent-w12")).as("while it stops").isEqualTo("running");
        WorkerProcess.release("silent-w12");
        stopping.join();
        assertThat(remote.state("silent-w12")).isEqualTo("completed");
        assertThat(second.events.decisions).isEmpty();
      }
      assertThat(remote.count("remote_call", "silent-w12")).isEqualTo(1);
      assertThat(count("event_id = 'silent-w12' and attempts = 1 and fence = 1")).isEqualTo(1);
    } finally {
      WorkerProcess.release("silent-w12");
    }
  }

  /** Whatever zone the sessions are in: due after its delay, neither at once nor hours later. */
  @Test
  void w23_aRetryIsDueAfterItsDelayInAnyTimeZone() throws Exception {
    String name = database.substring(database.lastIndexOf('/') + 1);
    PostgresServer.execute(database, "alter database " + name + " set timezone = 'Asia/Kathmandu'");
    send("idempotent", "flaky-zone");
    try (WorkerProcess worker = worker(with(Duration.ofSeconds(20), Duration.ofSeconds(2)))) {
      Await.until("it is done", DEADLINE, () -> "completed".equals(remote.state("flaky-zone")));
      assertThat(worker.events.starts).isEqualTo(2);
      double waited =
          Double.parseDouble(
              remote.ask(
                  "select extract(epoch from b.started_at - a.ended_at) from fencepost.attempts a,"
                      + " fencepost.attempts b where a.fence = 1 and b.fence = 2"));
      assertThat(waited).isBetween(2.0, 60.0);
    }
  }

  /** A process that claims these events and dies before it has done anything for them. */
  private void lose(String... ids) throws Exception {
    try (ServiceProcess victim =
        ServiceProcess.start(
            WorkerProcess.class,
            database,
            broker,
            queue,
            Stage.BEFORE_REMOTE_CALL.name(),
            "STOP")) {
      send("idempotent", "baseline-of-" + ids[0]);
      victim.awaitLine("^armed", DEADLINE);
      send("idempotent", ids);
      victim.awaitLine("STOP at", DEADLINE);
      victim.kill();
    }
    // It stops with the first that runs; whatever it had not claimed by then is lost like the
    // others.
    claimedBySomebodyGone(
        Stream.of(ids)
            .filter(id -> count(lost(id) + " and state = 'running'") == 0)
            .toArray(String[]::new));
  }

  private static String lost(String... ids) {
    return "event_id in ('" + String.join("', '", ids) + "')";
  }

  /**
   * A row that cannot be recovered now, since somebody holds it, keeps no other from it: neither
   * those that were lost with it, nor those whose leases run out while it still cannot be.
   */
  @Test
  void w27_oneThatCannotBeRecoveredKeepsNoOtherFromIt() throws Exception {
    String[] together = ids("lost", 6);
    String[] later = ids("later", 4);
    lose(together);
    try (Connection holder = PostgresServer.connect(database);
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("select 1 from fencepost.activity where event_id = 'lost-0' for update");
      QueueConfig config = with(Duration.ofSeconds(20), Duration.ofSeconds(1));
      try (WorkerProcess survivor = worker(config)) {
        Await.until(
            "its neighbours are done",
            DEADLINE,
            () -> count(lost(together) + " and state = 'completed'") == together.length - 1);
        claimedBySomebodyGone(later);
        Await.until(
            "those lost later are done",
            DEADLINE,
            () -> count(lost(later) + " and state = 'completed'") == later.length);
        assertThat(remote.state("lost-0")).isEqualTo("running");
        assertThat(survivor.verticle.notReady()).isNull();
        holder.rollback();
        Await.until("it too", DEADLINE, () -> "completed".equals(remote.state("lost-0")));
      }
    }
    assertThat(count("event_id like 'l%' and attempts = 2"))
        .isEqualTo(together.length + later.length);
    assertThat(remote.count("remote_call", "lost-0")).isEqualTo(1);
  }

  /** Starts of a process that is gone: with short leases, and their messages are kept. */
  private void claimedBySomebodyGone(String... ids) {
    Vertx vertx = Vertx.vertx();
    FencepostConfig.Database config =
        new FencepostConfig.Database(List.of(database), "fencepost", 2);
    PgDatabase opened = PgDatabase.open(vertx, config, "gone");
    ActivityStore store = new PgActivityStore(opened, opened);
    Claim.Work work =
        new Claim.Work("idempotent", ActivityKind.IDEMPOTENT, 20, 10, Duration.ofSeconds(1));
    for (String id : ids) {
      ActivityId event = new ActivityId(queue, id);
      Delivery.Envelope message = Bench.message("idempotent", id);
      Await.result(
          store.claim("gone", List.of(new Claim.Request(event, work, null, false, message))));
      Await.result(store.keepBody(event, message));
    }
    Await.result(opened.close());
    Await.result(vertx.close());
  }
}
