package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A database that answers and can store nothing: an outage like another, and no event's fault. */
class FullDiskIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final String QUEUE = "full";
  private static final List<String> KINDS = List.of("pure", "idempotent", "irreversible", "effect");
  private static final int EACH = 10;

  private final String database = WorkerProcess.database();
  private final String broker = TestServers.broker().newVhost();
  private final Remote remote = new Remote(database);

  private long completed() {
    return remote.number("select count(*) from fencepost.activities where state = 'completed'");
  }

  private void fillTheDisk() {
    PostgresServer.execute(
        database,
        "create function full_disk() returns trigger language plpgsql as $$ begin"
            + " raise exception 'could not extend file: No space left on device'"
            + " using errcode = '53100'; end $$",
        "create trigger full_disk before insert or update on fencepost.activity"
            + " for each statement execute function full_disk()");
  }

  @Test
  void noEventIsDeadOrInReviewForIt() throws Exception {
    QueueConfig queue = WorkerProcess.queue(QUEUE, 20, QueueConfig.Ordering.NONE, DEADLINE);
    try (Publishing publishing = new Publishing(broker);
        WorkerProcess worker =
            new WorkerProcess(database, broker, new Death(Stage.NONE, "KILL"), List.of(queue))) {
      publishing.declare(QUEUE);
      publishing.send(QUEUE, "irreversible", "silent-full");
      Await.until("it runs", DEADLINE, () -> worker.events.starts == 1);
      fillTheDisk();
      WorkerProcess.release("silent-full"); // has nowhere to put its receipt
      for (int i = 0; i < EACH; i++) {
        for (String kind : KINDS) {
          publishing.send(QUEUE, kind, kind + "-" + i);
        }
      }
      publishing.confirmed();
      Await.until("not ready", DEADLINE, () -> worker.verticle.notReady() != null);
      assertThat(worker.verticle.notReady()).contains("cannot do its work now", "53100");
      int all = EACH * KINDS.size() + 1;
      Await.until("all are here", DEADLINE, () -> worker.events.delivered == all);
      PostgresServer.execute(database, "drop trigger full_disk on fencepost.activity");
      Await.until("all are done", DEADLINE, () -> completed() == all);
      Await.until("ready", DEADLINE, () -> worker.verticle.notReady() == null);
      Await.until("acknowledged", DEADLINE, () -> worker.events.acknowledged == all);
    } finally {
      WorkerProcess.release("silent-full");
    }
    assertThat(remote.number("select count(*) from fencepost.dead_letters")).isZero();
    assertThat(remote.number("select max(attempts) from fencepost.activities")).isEqualTo(1);
    assertThat(remote.number("select count(*) from remote_call")).isEqualTo(3 * EACH + 1);
    assertThat(remote.number("select count(*) from effect")).isEqualTo(EACH);
  }
}
