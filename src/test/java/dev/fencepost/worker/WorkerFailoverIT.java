package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.PostgresServer;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The database fails over to a replica under two working processes that know both servers: what the
 * replica had is neither lost nor done twice. It replicates synchronously, so it had everything.
 */
class WorkerFailoverIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final int EVENTS = 1_200;
  private static final List<String> KINDS =
      List.of("effect", "idempotent", "irreversible", "queryable");
  private static final String QUEUE = "failover";

  @Test
  void whatTheReplicaHadIsNeitherLostNorDoneTwice() throws Exception {
    String broker = TestServers.broker().newVhost();
    String elsewhere = TestServers.postgres().newDatabase();
    Remote.create(elsewhere);
    publish(broker);
    try (PostgresServer primary = PostgresServer.start()) {
      String database = primary.newDatabase();
      WorkerProcess.migrate(database);
      PostgresServer replica = primary.startReplica();
      PostgresServer.execute(
          primary.uri(),
          "alter system set synchronous_standby_names = 'replica'",
          "select pg_reload_conf()");
      String copy = replica.uri(database.substring(database.lastIndexOf('/') + 1));
      Remote before = new Remote(database);
      Await.until(
          "it replicates synchronously",
          DEADLINE,
          () -> "sync".equals(before.ask("select sync_state from pg_stat_replication")));
      try (WorkerProcess first = worker(database, copy, elsewhere, broker);
          WorkerProcess second = worker(database, copy, elsewhere, broker)) {
        Await.until("some are done", DEADLINE, () -> ended(before) > EVENTS / 4);
        primary.kill();
        replica.promote();
        Remote after = new Remote(copy);
        assertThat(ended(after)).as("in the middle of it").isBetween(EVENTS / 4L, EVENTS - 1L);
        Await.until("all have ended", DEADLINE, () -> ended(after) == EVENTS);
        check(after, new Remote(elsewhere));
        assertThat(first.verticle.notReady()).isNull();
        assertThat(second.verticle.notReady()).isNull();
      }
    }
  }

  private static WorkerProcess worker(
      String database, String copy, String elsewhere, String broker) {
    return new WorkerProcess(
        List.of(database, copy),
        new Remote(elsewhere),
        broker,
        new Death(Stage.NONE, "KILL"),
        List.of(WorkerProcess.queue(QUEUE)));
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

  private static long number(Remote remote, String sql) {
    return Long.parseLong(remote.ask(sql));
  }

  private static long ended(Remote remote) {
    return number(
        remote,
        "select count(*) from fencepost.activities where state in"
            + " ('completed', 'dead', 'manual_review')");
  }

  private static void check(Remote database, Remote remote) {
    long each = EVENTS / KINDS.size();
    assertThat(number(database, "select count(distinct event_id) from effect")).isEqualTo(each);
    assertThat(number(database, "select count(*) from effect")).isEqualTo(each);
    assertThat(number(database, "select count(*) from fencepost.dead_letters")).isZero();
    assertThat(
            number(
                database,
                "select count(*) from fencepost.activities where state = 'manual_review' and kind"
                    + " <> 'irreversible'"))
        .as("what may be asked or repeated needs no person")
        .isZero();
    String calls = "select count(*) from remote_call where event_id like '%s-%%'";
    assertThat(
            number(remote, "select count(*) from remote_effect where event_id like 'idempotent-%'"))
        .isEqualTo(each);
    assertThat(
            number(
                remote,
                "select count(*) - count(distinct event_id) from remote_effect where event_id like"
                    + " 'queryable-%'"))
        .as("queryable, happened twice")
        .isZero();
    long called = number(remote, calls.formatted("irreversible"));
    assertThat(called)
        .as("irreversible ones, each called at most once")
        .isEqualTo(
            number(
                remote,
                "select count(distinct event_id) from remote_call where event_id like"
                    + " 'irreversible-%'"));
    assertThat(called)
        .as("and what is said to be completed was called")
        .isGreaterThanOrEqualTo(
            number(
                database,
                "select count(*) from fencepost.activities where kind = 'irreversible' and state ="
                    + " 'completed'"));
  }
}
