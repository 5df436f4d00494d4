package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.RabbitServer;
import dev.fencepost.testing.ServiceProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Several worker processes, one of which is killed every two seconds, the broker and the database
 * restarted once: in the end every event has had its effect once, or waits for a person because
 * nobody can know.
 */
class ChaosIT {
  private static final int EVENTS = Integer.getInteger("fencepost.chaos.events", 4_000);
  private static final int PROCESSES = 3;
  private static final String QUEUE = "chaos";
  private static final List<String> KINDS =
      List.of("effect", "idempotent", "irreversible", "pure", "queryable");

  @Test
  void everyEventHasItsEffectOnceWhateverDies() throws Exception {
    try (PostgresServer postgres = PostgresServer.start();
        RabbitServer rabbit = RabbitServer.start()) {
      String database = postgres.newDatabase();
      String broker = rabbit.newVhost();
      WorkerProcess.migrate(database);
      publish(broker);
      List<ServiceProcess> workers = new ArrayList<>();
      try {
        for (int i = 0; i < PROCESSES; i++) {
          workers.add(worker(database, broker));
        }
        torment(workers, database, broker, postgres, rabbit);
        Remote remote = new Remote(database);
        Await.until("everything has ended", Duration.ofSeconds(180), () -> unfinished(remote) == 0);
        check(remote);
      } catch (AssertionError e) {
        workers.forEach(worker -> System.out.println(tail(worker)));
        throw e;
      } finally {
        workers.forEach(ServiceProcess::close);
      }
    }
  }

  private static String tail(ServiceProcess worker) {
    String log = worker.log();
    return log.substring(Math.max(0, log.length() - 3_000));
  }

  private static ServiceProcess worker(String database, String broker) {
    return ServiceProcess.start(
        WorkerProcess.class, database, broker, QUEUE, Stage.NONE.name(), "KILL");
  }

  private static void publish(String broker) throws Exception {
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(QUEUE);
      for (int i = 0; i < EVENTS; i++) {
        String kind = KINDS.get(i % KINDS.size());
        publishing.send(QUEUE, kind, kind + "-" + i);
      }
      publishing.confirmed();
    }
  }

  /** One kill every two seconds, the servers once each. */
  private static void torment(
      List<ServiceProcess> workers,
      String database,
      String broker,
      PostgresServer postgres,
      RabbitServer rabbit)
      throws InterruptedException {
    Random random = new Random(4);
    for (int round = 0; round < 10; round++) {
      Thread.sleep(2_000); // the rhythm of the kills is the test
      int victim = random.nextInt(workers.size());
      workers.get(victim).close();
      workers.set(victim, worker(database, broker));
      if (round == 4) {
        postgres.kill();
        postgres.restart();
      }
      if (round == 7) {
        rabbit.restart();
      }
    }
  }

  private static long number(Remote remote, String sql) {
    return Long.parseLong(remote.ask(sql));
  }

  private static long unfinished(Remote remote) {
    long ended =
        number(
            remote,
            "select count(*) from fencepost.activities where state in"
                + " ('completed', 'dead', 'manual_review')");
    return EVENTS - ended;
  }

  private static void check(Remote remote) {
    for (String sql :
        List.of(
            "select string_agg(kind || ' ' || state || ' ' || n, ', ') from (select kind, state,"
                + " count(*) n from fencepost.activities group by 1, 2 order by 1, 2) x",
            "select string_agg(outcome || ' ' || n, ', ') from (select outcome, count(*) n from"
                + " fencepost.attempts group by 1 order by 1) x",
            "select string_agg(attempts || ' starts: ' || n, ', ') from (select attempts, count(*) n"
                + " from fencepost.activities group by 1 order by 1) x")) {
      System.out.println("chaos: " + remote.ask(sql));
    }
    assertThat(number(remote, "select count(*) from fencepost.dead_letters")).isZero();
    assertThat(number(remote, "select count(distinct event_id) from effect"))
        .as("effects")
        .isEqualTo(EVENTS / KINDS.size());
    assertThat(number(remote, "select count(*) from effect")).isEqualTo(EVENTS / KINDS.size());
    assertThat(
            number(remote, "select count(*) from remote_effect where event_id like 'idempotent-%'"))
        .as("idempotent effects")
        .isEqualTo(EVENTS / KINDS.size());
    assertThat(
            number(
                remote,
                "select coalesce(max(n), 0) from (select count(*) n from remote_call"
                    + " where event_id like 'irreversible-%' group by event_id) calls"))
        .as("calls of an irreversible event")
        .isEqualTo(1);
    assertThat(
            number(
                remote,
                "select count(*) from fencepost.activities a where kind = 'irreversible' and state ="
                    + " 'completed' and not exists (select 1 from remote_call r where r.event_id ="
                    + " a.event_id)"))
        .as("completed without a call")
        .isZero();
    assertThat(
            number(
                remote,
                "select count(*) from fencepost.activities where state = 'manual_review' and kind"
                    + " not in ('irreversible', 'queryable')"))
        .as("what may be repeated needs no person")
        .isZero();
  }
}
