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
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Several worker processes, one of which is killed every two seconds until nearly all is done, the
 * broker and the database restarted once: in the end every event has had its effect once or failed
 * once, or waits for a person because nobody can know, and still does after an hour.
 *
 * <p>{@code -Dfencepost.chaos.events} and {@code -Dfencepost.chaos.processes} change the size.
 */
class ChaosIT {
  private static final int EVENTS = Integer.getInteger("fencepost.chaos.events", 4_000);
  private static final int PROCESSES = Integer.getInteger("fencepost.chaos.processes", 3);
  private static final Duration RHYTHM = Duration.ofSeconds(2);
  private static final Duration SLOWEST_RHYTHM = Duration.ofSeconds(15);
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final String QUEUE = "chaos";

  @Test
  void everyEventHasItsEffectOnceWhateverDies() throws Exception {
    new Run(EVENTS, PROCESSES, Duration.ofMinutes(2)).go();
  }

  @Test
  @Tag("soak")
  void fiftyThousandEventsOverFourProcesses() throws Exception {
    Run run = new Run(50_000, 4, Duration.ofMinutes(45));
    run.go();
    assertThat(run.reviews).as("undecidable ones").isPositive();
  }

  private static final class Run {
    private final int events;
    private final Duration torment;
    private final List<ServiceProcess> workers = new ArrayList<>();
    private final int processes;
    private final Random random = new Random(4);
    private int kills;
    private long reviews;
    private String database = "";
    private String broker = "";

    /**
     * @param torment how long it kills at most, once both servers have been restarted
     */
    Run(int events, int processes, Duration torment) {
      this.events = events;
      this.processes = processes;
      this.torment = torment;
    }

    void go() throws Exception {
      try (PostgresServer postgres = PostgresServer.start();
          RabbitServer rabbit = RabbitServer.start()) {
        database = postgres.newDatabase();
        broker = rabbit.newVhost();
        WorkerProcess.migrate(database);
        ChaosEvents.publish(database, broker, QUEUE, events);
        Remote remote = new Remote(database);
        long start = System.nanoTime();
        for (int i = 0; i < processes; i++) {
          workers.add(worker());
        }
        torment(remote, postgres, rabbit);
        say("tormented", start);
        Await.until("everything has ended", PATIENCE, () -> ended(remote) == events);
        say("done", start);
        ChaosChecks.all(remote);
        anHourPasses(remote);
        ChaosChecks.all(remote);
      } catch (AssertionError e) {
        workers.forEach(worker -> System.out.println(tail(worker)));
        throw e;
      } finally {
        workers.forEach(ServiceProcess::close);
      }
    }

    private void say(String what, long start) {
      System.out.printf(
          "chaos: %d events, %d processes: %s after %d s, %d kills%n",
          events, processes, what, (System.nanoTime() - start) / 1_000_000_000, kills);
    }

    private static String tail(ServiceProcess worker) {
      String log = worker.log();
      return log.substring(Math.max(0, log.length() - 3_000));
    }

    private ServiceProcess worker() {
      return ServiceProcess.start(
          WorkerProcess.class, database, broker, QUEUE, Stage.NONE.name(), "KILL");
    }

    /**
     * One kill in two seconds, or once one in a hundred has ended since the last, until all but one
     * in fifty have ended, or for long enough; the servers are restarted once each meanwhile.
     */
    private void torment(Remote remote, PostgresServer postgres, RabbitServer rabbit) {
      CompletableFuture<Void> databaseRestarted = null;
      CompletableFuture<Void> brokerRestarted = null;
      long enough = System.nanoTime() + torment.toNanos();
      long end = enough + PATIENCE.toNanos();
      long ended = 0;
      while (!isDone(brokerRestarted)
          || kills < 10
          || (ended < events - events / 50 && System.nanoTime() < enough)) {
        assertThat(System.nanoTime()).as("%d of %d have ended", ended, events).isLessThan(end);
        long before = ended;
        long next = System.nanoTime() + RHYTHM.toNanos();
        boolean up = databaseRestarted == null || isDone(databaseRestarted);
        // On a slow machine, nothing would ever get done by processes that hardly live.
        Await.until(
            "the next kill",
            () ->
                System.nanoTime() > next
                    && (!up
                        || System.nanoTime() > next + SLOWEST_RHYTHM.toNanos()
                        || ended(remote) - before >= events / 100));
        killOne();
        if (databaseRestarted == null && kills >= 4 && ended > events / 4) {
          databaseRestarted =
              CompletableFuture.runAsync(
                  () -> {
                    postgres.kill();
                    postgres.restart();
                  });
        } else if (brokerRestarted == null && isDone(databaseRestarted) && ended > events / 2) {
          brokerRestarted = CompletableFuture.runAsync(rabbit::restart);
        }
        ended = databaseRestarted == null || isDone(databaseRestarted) ? ended(remote) : ended;
      }
    }

    /** One that works: on a slow machine, nothing would ever get done by those that start. */
    private void killOne() {
      List<ServiceProcess> working =
          workers.stream().filter(worker -> !worker.lines("^started").isEmpty()).toList();
      if (!working.isEmpty()) {
        ServiceProcess victim = working.get(random.nextInt(working.size()));
        victim.close();
        workers.set(workers.indexOf(victim), worker());
        kills++;
      }
    }

    /** Its failure is the test's. */
    private static boolean isDone(@Nullable CompletableFuture<Void> restart) {
      return restart != null && restart.isDone() && restart.join() == null;
    }

    private static long ended(Remote remote) {
      return Long.parseLong(
          remote.ask(
              "select count(*) from fencepost.activities where state in"
                  + " ('completed', 'dead', 'manual_review')"));
    }

    /**
     * An hour of background loops in every process, by quarters of moved database time; a retry
     * that comes due in each says that the loops have run. Then each undecided event comes once
     * more.
     */
    private void anHourPasses(Remote remote) throws Exception {
      String before = remote.ask(REVIEWS);
      reviews = Long.parseLong(before.substring(0, before.indexOf(' ')));
      try (Publishing publishing = new Publishing(broker)) {
        for (int quarter = 1; quarter <= 4; quarter++) {
          DatabaseTime.advance(database, Duration.ofMinutes(15));
          String flaky = "flaky-" + quarter;
          publishing.send(QUEUE, "idempotent", flaky);
          awaitCompleted(remote, flaky);
        }
        for (String id : remote.ask(REVIEWED).split(",")) {
          publishing.send(QUEUE, "irreversible", id);
        }
        publishing.send(QUEUE, "idempotent", "last");
        awaitCompleted(remote, "last");
      }
      assertThat(remote.ask(REVIEWS)).as("what waits for a person").isEqualTo(before);
      System.out.println("chaos: still in review after an hour: " + reviews);
    }

    private static void awaitCompleted(Remote remote, String id) {
      Await.until(
          id + " is completed",
          Duration.ofMinutes(2),
          () ->
              "completed"
                  .equals(
                      remote.ask(
                          "select state from fencepost.activities where event_id = '" + id + "'")));
    }

    private static final String REVIEWED =
        "select coalesce(string_agg(event_id, ','), 'none') from fencepost.activities where kind ="
            + " 'irreversible' and state = 'manual_review'";

    /**
     * How many there are, and a digest of all that a background loop could have changed of them.
     */
    private static final String REVIEWS =
        "select count(*) || ' ' || coalesce(md5(string_agg(concat_ws(' ', event_id, fence,"
            + " generation, attempts, retries, (select count(*) from fencepost.attempts t where"
            + " t.event_id = a.event_id), (select count(*) from remote_call c where c.event_id ="
            + " a.event_id)), ',' order by event_id)), 'none') from fencepost.activities a where"
            + " state = 'manual_review'";
  }
}
