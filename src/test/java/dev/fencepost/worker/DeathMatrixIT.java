package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.DeathMatrix.Row;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * spec/death-matrix.csv as it is: a second JVM is killed by itself at each stage, for each kind,
 * and a survivor makes of it what the row says.
 */
class DeathMatrixIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static String database;
  private static String broker;

  @BeforeAll
  static void servers() {
    database = WorkerProcess.database();
    broker = TestServers.broker().newVhost();
  }

  @Test
  void everyRowComesOut() throws Exception {
    List<Row> rows = DeathMatrix.rows();
    assertThat(rows).hasSize(34);
    kill(rows);
    try (WorkerProcess survivor =
        new WorkerProcess(
            database,
            broker,
            rows.stream().map(Row::queue).toList(),
            new Death(Stage.NONE, "KILL"))) {
      Remote remote = new Remote(database);
      SoftAssertions soft = new SoftAssertions();
      for (Row row : rows) {
        check(row, remote, survivor, soft);
      }
      soft.assertAll();
      DeathMatrix.assertReady(survivor, remote);
    }
  }

  /** Some at a time: each is a JVM. */
  private static void kill(List<Row> rows) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<Future<Integer>> exits =
          rows.stream().map(row -> threads.submit(() -> dieAt(row))).toList();
      for (Future<Integer> exit : exits) {
        assertThat(exit.get()).as("SIGKILL").isEqualTo(137);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static int dieAt(Row row) throws Exception {
    try (ServiceProcess victim = DeathMatrix.victim(row, database, broker, "KILL")) {
      return victim.awaitExit(Duration.ofSeconds(20));
    }
  }

  private static void check(Row row, Remote remote, WorkerProcess survivor, SoftAssertions soft) {
    String where = " where event_id = '" + row.queue() + "'";
    try {
      Await.until(
          row + " ends",
          DEADLINE,
          () ->
              row.state().equals(remote.ask("select state from fencepost.activities" + where))
                  && (!row.decision().equals("duplicate")
                      || survivor.events.duplicates(row.queue()) > 0));
    } catch (AssertionError e) {
      soft.fail(
          "%s: state is %s", row, remote.ask("select state from fencepost.activities" + where));
    }
    if (!row.calls().isEmpty()) {
      same(soft, row, "remote calls", row.calls(), remote.count("remote_call", row.queue()));
      same(soft, row, "remote effects", row.effects(), remote.count("remote_effect", row.queue()));
      same(
          soft,
          row,
          "attempts",
          row.attempts(),
          Long.parseLong(remote.ask("select count(*) from fencepost.attempts" + where)));
    } else {
      same(soft, row, "effects", row.effects(), remote.count("effect", row.queue()));
    }
    if (row.isTakenOver()) {
      soft.assertThat(survivor.events.decisionsByQueue.getOrDefault(row.queue(), List.of()))
          .as("%s: decision", row)
          .extracting(decision -> decision.wire())
          .containsExactly(row.decision());
    }
    if (row.decision().isEmpty()) {
      soft.assertThat(survivor.events.decisionsByQueue)
          .as("%s", row)
          .doesNotContainKey(row.queue());
    }
  }

  private static void same(
      SoftAssertions soft, Row row, String what, String expected, long actual) {
    soft.assertThat(Long.toString(actual)).as("%s: %s", row, what).isEqualTo(expected);
  }
}
