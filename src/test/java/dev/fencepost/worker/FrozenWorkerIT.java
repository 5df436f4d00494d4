package dev.fencepost.worker;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import dev.fencepost.worker.DeathMatrix.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The stages and kinds of spec/death-matrix.csv, but the worker stands still there for longer than
 * its lease (SIGSTOP) and then goes on (SIGCONT): meanwhile somebody else has decided what the row
 * says, and it changes nothing of that any more.
 */
class FrozenWorkerIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);

  /** So many at a time: each is a JVM that stays until the end of its turn. */
  private static final int AT_ONCE = 12;

  private final String database = WorkerProcess.database();
  private final String broker = TestServers.broker().newVhost();
  private final Remote remote = new Remote(database);

  /** Each stage with a kind, each kind at a stage or two, and calls that must not be repeated. */
  @Test
  void whatItHeldIsDecidedElsewhereAndItRecordsNothing() throws Exception {
    List<Row> all = DeathMatrix.rows();
    List<Row> some = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      Row row = all.get(i);
      boolean risky =
          row.kind().equals("irreversible") && row.stage().endsWith("remote_call")
              || row.queue().equals("before_receipt_write.queryable");
      if (i % 5 == 0 || row.isEffect() || risky) {
        some.add(row);
      }
    }
    decidedElsewhere(some);
  }

  @Test
  @Tag("soak")
  void theSameAtEveryStageForEveryKind() throws Exception {
    decidedElsewhere(DeathMatrix.rows());
  }

  private void decidedElsewhere(List<Row> rows) throws Exception {
    SoftAssertions soft = new SoftAssertions();
    for (int from = 0; from < rows.size(); from += AT_ONCE) {
      turn(rows.subList(from, Math.min(rows.size(), from + AT_ONCE)), soft);
    }
    soft.assertAll();
  }

  private void turn(List<Row> rows, SoftAssertions soft) throws Exception {
    Map<Row, ServiceProcess> victims = new LinkedHashMap<>();
    try {
      freeze(rows, victims);
      takeOverAndThaw(victims, soft);
    } finally {
      victims.values().forEach(ServiceProcess::close);
    }
  }

  private void freeze(List<Row> rows, Map<Row, ServiceProcess> victims) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<Future<ServiceProcess>> frozen = new ArrayList<>();
      for (Row row : rows) {
        frozen.add(threads.submit(() -> DeathMatrix.victim(row, database, broker, "STOP")));
      }
      for (int i = 0; i < rows.size(); i++) {
        victims.put(rows.get(i), frozen.get(i).get());
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void takeOverAndThaw(Map<Row, ServiceProcess> victims, SoftAssertions soft) {
    try (WorkerProcess survivor =
        new WorkerProcess(
            database,
            broker,
            victims.keySet().stream().map(Row::queue).toList(),
            new Death(Stage.NONE, "KILL"))) {
      long lost = System.nanoTime() + WorkerProcess.TTL.toNanos();
      Await.until("the last lease is over", DEADLINE, () -> System.nanoTime() > lost);
      for (Row row : victims.keySet()) {
        if (row.isTakenOver()) {
          Await.until(row + " is taken over", DEADLINE, () -> row.state().equals(state(row)));
        }
      }
      victims.values().forEach(ServiceProcess::resume);
      victims.forEach((row, victim) -> check(row, victim, survivor, soft));
      DeathMatrix.assertReady(survivor, remote);
    }
  }

  private String state(Row row) {
    return remote.ask("select state from fencepost.activities" + where(row));
  }

  private static String where(Row row) {
    return " where event_id = '" + row.queue() + "'";
  }

  private void check(Row row, ServiceProcess victim, WorkerProcess survivor, SoftAssertions soft) {
    try {
      Await.until(row + " ends", DEADLINE, () -> row.state().equals(state(row)));
      if (row.isTakenOver()) {
        Await.until(row + ": its late result is in the audit log", DEADLINE, () -> isTold(row));
      }
    } catch (AssertionError e) {
      soft.fail("%s, is %s: %s", e.getMessage(), state(row), victim.log());
      return;
    }
    if (row.isEffect()) {
      soft.assertThat(remote.count("effect", row.queue())).as("%s", row).isEqualTo(1);
      return;
    }
    if (row.isTakenOver()) {
      soft.assertThat(survivor.events.decisionsByQueue.get(row.queue()))
          .as("%s: decision", row)
          .extracting(decision -> decision.wire())
          .containsExactly(row.decision());
    }
    soft.assertThat(state(row)).as("%s: state after the thaw", row).isEqualTo(row.state());
    soft.assertThat(remote.number("select attempts from fencepost.activities" + where(row)))
        .as("%s: attempts", row)
        .isEqualTo(Long.parseLong(row.attempts()));
    remoteSaw(row, soft);
  }

  /**
   * A call that the thaw may let out is the remote's to refuse; an irreversible one was never
   * repeated.
   */
  private void remoteSaw(Row row, SoftAssertions soft) {
    long released = row.stage().equals("before_remote_call") ? 1 : 0;
    long calls = Long.parseLong(row.calls());
    soft.assertThat(remote.count("remote_call", row.queue()))
        .as("%s: calls", row)
        .isBetween(calls, calls + released);
    boolean once = !row.kind().equals("pure") && !row.effects().equals("0");
    long effects = Long.parseLong(row.effects());
    soft.assertThat(remote.count("remote_effect", row.queue()))
        .as("%s: effects", row)
        .isBetween(effects, effects + (once ? 0 : released));
  }

  private boolean isTold(Row row) {
    return remote.number(
            "select count(*) from fencepost.audit_log"
                + where(row)
                + " and fence = 1 and action <> 'takeover'")
        > 0;
  }
}
