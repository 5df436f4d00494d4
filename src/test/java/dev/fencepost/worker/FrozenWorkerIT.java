package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/**
 * A worker that stands still for longer than its lease (SIGSTOP) at a stage and goes on (SIGCONT):
 * somebody else has taken over meanwhile, and it changes nothing any more.
 */
class FrozenWorkerIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private record Case(Stage stage, String kind) {
    String queue() {
      return "frozen." + stage.name().toLowerCase(java.util.Locale.ROOT) + "." + kind;
    }
  }

  private static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (Stage stage :
        List.of(
            Stage.AFTER_CLAIM,
            Stage.BEFORE_REMOTE_CALL,
            Stage.BEFORE_RECEIPT_WRITE,
            Stage.BEFORE_COMPLETION_COMMIT)) {
      cases.add(new Case(stage, "idempotent"));
      cases.add(new Case(stage, "irreversible"));
    }
    cases.add(new Case(Stage.BEFORE_COMMIT, "effect"));
    return cases;
  }

  @Test
  void whatItHeldIsDecidedElsewhereAndItRecordsNothing() throws Exception {
    String database = TestServers.postgres().newDatabase();
    String broker = TestServers.broker().newVhost();
    WorkerProcess.migrate(database);
    Remote remote = new Remote(database);
    Map<Case, ServiceProcess> victims = new LinkedHashMap<>();
    try (Publishing publishing = new Publishing(broker)) {
      for (Case each : cases()) {
        publishing.declare(each.queue());
        publishing.send(each.queue(), each.kind(), each.queue());
      }
      publishing.confirmed();
      for (Case each : cases()) {
        ServiceProcess victim =
            ServiceProcess.start(
                WorkerProcess.class, database, broker, each.queue(), each.stage().name(), "STOP");
        victims.put(each, victim);
        victim.awaitLine("STOP at", DEADLINE);
      }
      takeOverAndThaw(victims, remote, database, broker);
    } finally {
      victims.values().forEach(ServiceProcess::close);
    }
  }

  private static void takeOverAndThaw(
      Map<Case, ServiceProcess> victims, Remote remote, String database, String broker) {
    try (WorkerProcess survivor =
        new WorkerProcess(
            database,
            broker,
            victims.keySet().stream().map(Case::queue).toList(),
            new Death(Stage.NONE, "KILL"))) {
      for (Case each : victims.keySet()) {
        if (!each.kind().equals("effect")) {
          Await.until(
              each + " is taken over",
              DEADLINE,
              () -> survivor.events.decisionsByQueue.containsKey(each.queue()));
        }
      }
      assertThat(remote.ask("select state from fencepost.activities where kind = 'effect'"))
          .as("its transaction is open, in the frozen process")
          .isNull();
      victims.values().forEach(ServiceProcess::resume);
      SoftAssertions soft = new SoftAssertions();
      victims.keySet().forEach(each -> check(each, remote, soft));
      soft.assertAll();
    }
  }

  private static void check(Case each, Remote remote, SoftAssertions soft) {
    String where = " where event_id = '" + each.queue() + "'";
    String expected =
        each.kind().equals("irreversible") && each.stage() != Stage.BEFORE_COMPLETION_COMMIT
            ? "manual_review"
            : "completed";
    try {
      Await.until(
          each + " is " + expected,
          DEADLINE,
          () -> expected.equals(remote.ask("select state from fencepost.activities" + where)));
    } catch (AssertionError e) {
      soft.fail(e.getMessage());
    }
    if (each.kind().equals("effect")) {
      soft.assertThat(remote.count("effect", each.queue())).as("%s", each).isEqualTo(1);
      return;
    }
    soft.assertThat(remote.count("remote_effect", each.queue()))
        .as("%s: effects", each)
        .isLessThanOrEqualTo(1);
    if (each.kind().equals("irreversible")) {
      soft.assertThat(remote.count("remote_call", each.queue()))
          .as("%s: calls", each)
          .isLessThanOrEqualTo(1);
    }
    soft.assertThat(Long.parseLong(remote.ask("select fence from fencepost.activities" + where)))
        .as("%s: fence", each)
        .isGreaterThan(1);
    Await.until(
        each + ": its late result is in the audit log",
        DEADLINE,
        () ->
            Long.parseLong(
                    remote.ask(
                        "select count(*) from fencepost.audit_log"
                            + where
                            + " and fence = 1 and action <> 'takeover'"))
                > 0);
  }
}
