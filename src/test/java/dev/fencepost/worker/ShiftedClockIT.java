package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes whose clock is an hour off, on real servers. No process can be given another clock from
 * a test, so the database is: its sessions find a {@code now()} that is an hour ahead of the
 * machine's, or behind.
 */
class ShiftedClockIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final Death NEVER = new Death(Stage.NONE, "KILL");
  private static final String QUEUE = "shifted";

  private final String database = WorkerProcess.database();
  private final String broker = TestServers.broker().newVhost();
  private final Remote remote = new Remote(database);

  /** Sessions that begin from now on look for functions there first. */
  private void shiftTheClock(String by) {
    String name = database.substring(database.lastIndexOf('/') + 1);
    String shifted =
        "create function shifted.%1$s() returns timestamptz language sql %2$s as"
            + " $$ select pg_catalog.%1$s() + interval '%3$s' $$";
    PostgresServer.execute(
        database,
        "create schema shifted",
        shifted.formatted("now", "stable", by),
        shifted.formatted("clock_timestamp", "volatile", by),
        "alter database " + name + " set search_path = shifted, pg_catalog, public");
  }

  private void send(String... ids) throws Exception {
    Publishing.toQueue(broker, QUEUE, "idempotent", ids);
  }

  private void loseOne() throws Exception {
    try (ServiceProcess victim =
        ServiceProcess.start(
            WorkerProcess.class,
            database,
            broker,
            QUEUE,
            Stage.BEFORE_REMOTE_CALL.name(),
            "STOP")) {
      send("baseline");
      victim.awaitLine("^armed", DEADLINE);
      send("lost");
      victim.awaitLine("STOP at", DEADLINE);
      victim.kill();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1 hour", "-1 hour"})
  void w13_nothingIsTakenOverTooSoonNorDueTooLate(String shift) throws Exception {
    String running = "silent-" + shift.replace(' ', '-');
    shiftTheClock(shift);
    assertThat(remote.number("select round(extract(epoch from now() - pg_catalog.now()))"))
        .as("the clock of a session")
        .isEqualTo(shift.startsWith("-") ? -3600 : 3600);
    loseOne();
    List<QueueConfig> queues =
        List.of(WorkerProcess.queue(QUEUE, 20, QueueConfig.Ordering.NONE, DEADLINE));
    List<RecoveryDecision> decisions = new ArrayList<>();
    try (WorkerProcess one = new WorkerProcess(database, broker, NEVER, queues);
        WorkerProcess two = new WorkerProcess(database, broker, NEVER, queues)) {
      send("flaky-1", running);
      Await.until("the lost one is done", DEADLINE, () -> "completed".equals(remote.state("lost")));
      Await.until(
          "the failed one is done", DEADLINE, () -> "completed".equals(remote.state("flaky-1")));
      Await.until("the long one runs", DEADLINE, () -> "running".equals(remote.state(running)));
      long renewed = System.nanoTime() + WorkerProcess.TTL.plusMillis(500).toNanos();
      Await.until("longer than its lease", DEADLINE, () -> System.nanoTime() > renewed);
      assertThat(
              remote.number(
                  "select count(*) from fencepost.activities where event_id = '"
                      + running
                      + "' and fence ="
                      + " 1 and lease_until between now() and now() + interval '"
                      + WorkerProcess.TTL.toSeconds()
                      + " seconds'"))
          .as("its lease is the database's")
          .isEqualTo(1);
      WorkerProcess.release(running);
      Await.until(
          "the long one is done", DEADLINE, () -> "completed".equals(remote.state(running)));
      decisions.addAll(one.events.decisions);
      decisions.addAll(two.events.decisions);
    } finally {
      WorkerProcess.release(running);
    }
    assertThat(decisions)
        .as("of the lost one")
        .containsExactly(RecoveryDecision.RETRY_SAME_ACTIVITY);
    assertThat(waited("lost", "started_at"))
        .as("its lease was respected")
        .isBetween(WorkerProcess.TTL.toMillis() / 1e3, 100.0);
    assertThat(waited("flaky-1", "ended_at")).as("the delay").isBetween(0.3, 60.0);
    assertThat(
            remote.number(
                "select count(*) from fencepost.attempts where started_at not between now() -"
                    + " interval '10 minutes' and now() or ended_at < started_at"))
        .as("times of another clock")
        .isZero();
  }

  /** Seconds from the first start of an event, or from its end, to the second. */
  private double waited(String id, String since) {
    return Double.parseDouble(
        remote.ask(
            "select extract(epoch from max(started_at) - min("
                + since
                + ")) from fencepost.attempts where event_id = '"
                + id
                + "'"));
  }
}
