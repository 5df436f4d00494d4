package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cases from incidents, on real servers: what a worker must survive. */
class WorkerCasesIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final String QUEUE = "cases";
  private static final int LATE = 20;
  private String database;
  private String broker;
  private Remote remote;

  @BeforeEach
  void servers() {
    database = WorkerProcess.database();
    broker = TestServers.broker().newVhost();
    remote = new Remote(database);
  }

  private WorkerProcess worker() {
    return new WorkerProcess(database, broker, List.of(QUEUE), new Death(Stage.NONE, "KILL"));
  }

  private long count(String condition) {
    return remote.number("select count(*) from fencepost.activities where " + condition);
  }

  /** W08: a message that kills is convicted by its own starts; its neighbours are unharmed. */
  @Test
  void aMessageThatKillsEndsAfterItsStartsAndItsNeighboursAreUnharmed() throws Exception {
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(QUEUE);
      publishing.send(QUEUE, "idempotent", "killer");
      for (int i = 0; i < 40; i++) {
        publishing.send(QUEUE, "idempotent", "neighbour-" + i);
      }
      publishing.confirmed();
    }
    List<ServiceProcess> workers = new ArrayList<>(List.of(victim()));
    try {
      Await.until(
          "the killer is convicted in time",
          DEADLINE.multipliedBy(2), // four JVMs
          () -> {
            replaceTheDead(workers);
            return count("event_id = 'killer' and state = 'dead'") > 0;
          });
      Await.until(
          "the neighbours are done",
          DEADLINE,
          () -> count("event_id like 'neighbour-%' and state = 'completed'") == 40);
      Await.until(
          "those that came later, too",
          DEADLINE,
          () -> count("event_id like 'late-%' and state = 'completed'") == 2 * LATE);
    } finally {
      workers.forEach(ServiceProcess::close);
    }
    assertThat(workers.size() - 1).as("deaths").isEqualTo(3);
    assertThat(remote.ask("select reason || ' ' || attempts from fencepost.dead_letters"))
        .isEqualTo("retries_exhausted 3");
    assertThat(count("event_id like 'neighbour-%' and attempts > 2"))
        .as("charged by the first death at most")
        .isZero();
    assertThat(count("event_id like 'late-%' and attempts = 1"))
        .as("charged by no later death")
        .isEqualTo(2 * LATE);
    assertThat(remote.number("select count(*) from remote_call where event_id like 'late-%'"))
        .isEqualTo(2 * LATE);
    assertThat(remote.number("select count(*) from remote_effect")).isEqualTo(40 + 2 * LATE);
  }

  private void replaceTheDead(List<ServiceProcess> workers) throws Exception {
    ServiceProcess newest = workers.get(workers.size() - 1);
    if (!newest.isAlive()) {
      newest.close();
      workers.add(victim());
      sendLate(workers.size() - 1);
    }
  }

  /** What must not be repeated, ready to be taken together with the one that kills. */
  private void sendLate(int deaths) throws Exception {
    if (deaths > 2) {
      return;
    }
    try (Publishing publishing = new Publishing(broker)) {
      for (int i = 0; i < LATE; i++) {
        publishing.send(QUEUE, "irreversible", "late-" + deaths + "-" + i);
      }
      publishing.confirmed();
    }
  }

  private ServiceProcess victim() {
    return ServiceProcess.start(
        WorkerProcess.class, database, broker, QUEUE, Stage.NONE.name(), "KILL", "3", "60");
  }

  /** W24, W25: deploys lose nothing, repeat nothing and burn no attempt. */
  @Test
  void stoppingUnderLoadLosesNothingAndBurnsNoAttempt() throws Exception {
    int events = 1_500;
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(QUEUE);
      for (int i = 0; i < events; i++) {
        String kind = List.of("irreversible", "effect", "idempotent").get(i % 3);
        publishing.send(QUEUE, kind, kind + "-" + i);
      }
      publishing.confirmed();
    }
    for (int deploy = 1; deploy <= 3; deploy++) {
      int enough = deploy * 100;
      try (WorkerProcess worker = worker()) {
        Await.until("deploy works", DEADLINE, () -> count("state = 'completed'") >= enough);
        assertThat(worker.verticle.notReady()).isNull();
      }
      assertThat(count("state = 'running'")).as("nothing is left open").isZero();
    }
    try (WorkerProcess worker = worker()) {
      Await.until("all done", DEADLINE, () -> count("state = 'completed'") == events);
      assertThat(worker.events.leasesLost).isZero();
    }
    assertThat(remote.number("select max(attempts) from fencepost.activities")).isEqualTo(1);
    assertThat(remote.number("select count(*) from remote_call")).isEqualTo(events / 3 * 2);
    assertThat(remote.number("select count(*) from effect")).isEqualTo(events / 3);
  }

  /** W19: recording a failure cannot fail on its content. */
  @Test
  void anUnprintableErrorIsStored() throws Exception {
    try (Publishing publishing = new Publishing(broker);
        WorkerProcess worker = worker()) {
      publishing.declare(QUEUE);
      publishing.send(QUEUE, "idempotent", "unprintable-1");
      publishing.send(QUEUE, "irreversible", "unprintable-2");
      Await.until("dead", DEADLINE, () -> count("state = 'dead'") == 1);
      Await.until("review", DEADLINE, () -> count("state = 'manual_review'") == 1);
      assertThat(remote.number("select length(error_message) from fencepost.dead_letters"))
          .isBetween(100L, 100_000L);
      Await.until(
          "it is counted once",
          DEADLINE,
          () -> worker.events.count(WorkerEvents.Outcome.DEAD_LETTERED) == 1);
    }
  }

  /** W20 and foreign producers: what cannot be read is dead, what can is run. */
  @Test
  void messagesOfOthersAreReadAndBrokenOnesAreDead() throws Exception {
    try (Publishing publishing = new Publishing(broker);
        WorkerProcess worker = worker()) {
      publishing.declare(QUEUE);
      publishing.send(QUEUE, new AMQP.BasicProperties.Builder().type("pure").build(), "no id");
      Map<String, Object> binary =
          Map.of(
              "cloudEvents:specversion", "1.0",
              "cloudEvents:id", "ce-binary",
              "cloudEvents:type", "pure");
      publishing.send(QUEUE, new AMQP.BasicProperties.Builder().headers(binary).build(), "{}");
      AMQP.BasicProperties structured =
          new AMQP.BasicProperties.Builder().contentType("application/cloudevents+json").build();
      publishing.send(
          QUEUE,
          structured,
          "{\"specversion\":\"1.0\",\"id\":\"ce-structured\",\"type\":\"pure\"}");
      publishing.send(QUEUE, structured, "{broken");
      LongString noText = LongStringHelper.asLongString(new byte[] {'a', (byte) 0xC3});
      publishing.send(
          QUEUE,
          new AMQP.BasicProperties.Builder()
              .messageId("no-text")
              .type("pure")
              .headers(Map.of("broken", noText))
              .build(),
          "its header is no text");
      publishing.send(QUEUE, "unheard.of", "unknown-type");
      publishing.send(QUEUE, "pure", "plain");
      Await.until("run", DEADLINE, () -> count("state = 'completed'") == 3);
      Await.until(
          "dead",
          DEADLINE,
          () ->
              remote.number(
                      "select count(*) from fencepost.dead_letters where reason ="
                          + " 'poison_message'")
                  == 3);
      Await.until("kept", DEADLINE, () -> count("state = 'unresolved'") == 1);
      assertThat(
              remote.ask(
                  "select convert_from(body, 'UTF8') from fencepost.dead_letters"
                      + " order by length(body) limit 1"))
          .isEqualTo("no id");
      assertThat(
              remote.number(
                  "select count(*) from fencepost.dead_letters where event_id ~ '^(plain|ce-)'"))
          .isZero();
      assertThat(
              remote.number(
                  "select count(*) from fencepost.dead_letters where body = 'its header is no text'"))
          .as("an unreadable header")
          .isEqualTo(1);
      assertThat(worker.verticle.notReady()).isNull();
    }
  }

  /** Events of a key end in their order, though some wait for a retry and two processes run. */
  @Test
  void eventsOfAKeyKeepTheirOrder() throws Exception {
    QueueConfig ordered = WorkerProcess.queue(QUEUE, 20, QueueConfig.Ordering.KEY);
    Death never = new Death(Stage.NONE, "KILL");
    int keys = 15;
    int each = 12;
    List<String> expected = new ArrayList<>();
    try (WorkerProcess first = new WorkerProcess(database, broker, never, List.of(ordered));
        WorkerProcess second = new WorkerProcess(database, broker, never, List.of(ordered));
        Publishing publishing = new Publishing(broker)) {
      for (int n = 0; n < each; n++) {
        for (int key = 0; key < keys; key++) {
          String id = (n % 5 == 2 ? "flaky" : "even") + "-" + key + "-" + n;
          AMQP.BasicProperties properties =
              new AMQP.BasicProperties.Builder()
                  .messageId(id)
                  .type("idempotent")
                  .headers(Map.of("fencepost-key", "k" + key))
                  .build();
          publishing.send(QUEUE, properties, "{}");
        }
      }
      publishing.confirmed();
      Await.until("all done", DEADLINE, () -> count("state = 'completed'") == keys * each);
      assertThat(first.owner).isNotEqualTo(second.owner);
    }
    for (int key = 0; key < keys; key++) {
      expected.add(
          remote.ask(
              "select string_agg(n::text, ',' order by id) from (select id,"
                  + " split_part(event_id, '-', 3)::int n from remote_effect where"
                  + " split_part(event_id, '-', 2) = '"
                  + key
                  + "') x"));
    }
    assertThat(expected).allMatch("0,1,2,3,4,5,6,7,8,9,10,11"::equals);
  }
}
