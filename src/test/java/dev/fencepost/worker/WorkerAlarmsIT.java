package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TestServers;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Handlers that hang, and what a person still has to decide: on real servers. */
class WorkerAlarmsIT {
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final Duration RENEW = Duration.ofSeconds(1);
  private static final Duration SILENCE = Duration.ofSeconds(2);
  private static final String QUEUE = "alarms";
  private String database;
  private String broker;
  private Remote remote;

  @BeforeEach
  void servers() {
    database = WorkerProcess.database();
    broker = TestServers.broker().newVhost();
    remote = new Remote(database);
  }

  private WorkerProcess worker(Duration hard) {
    return worker(hard, 1);
  }

  private WorkerProcess worker(Duration hard, int slots) {
    return new WorkerProcess(
        database, broker, new Death(Stage.NONE, "KILL"), List.of(hanging(hard, slots)));
  }

  /** As the usual queue, but {@code pure} has these slots and limits and a progress timeout. */
  private static QueueConfig hanging(Duration hard, int slots) {
    FencepostConfig.LeaseTimes lease = new FencepostConfig.LeaseTimes(RENEW.multipliedBy(8), RENEW);
    return new DifferentType(slots, lease, hard, SILENCE, null).in(QUEUE, "pure");
  }

  private void send(String type, String... ids) throws Exception {
    Publishing.toQueue(broker, QUEUE, type, ids);
  }

  @Test
  void w14_aHandlerStuckBehindAHealthyHeartbeatRaisesTheAlarm() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.fencepost.worker");
    logger.addAppender(log);
    try (WorkerProcess worker = worker(Duration.ofMinutes(2))) {
      send("pure", "silent-1");
      Await.until("the metric", DEADLINE, () -> worker.events.stalled == 1);
      Await.until(
          "the audit line",
          DEADLINE,
          () ->
              remote.number("select count(*) from fencepost.audit_log where action = 'stalled'")
                  == 1);
      assertThat(silentWhenSaid(log))
          .as("within the timeout and one renewal")
          .isBetween(SILENCE, SILENCE.plus(RENEW));
      Await.until(
          "the heartbeat goes on",
          DEADLINE,
          () ->
              remote.number(
                      "select count(*) from fencepost.activities a join fencepost.audit_log l"
                          + " using (consumer, event_id) where action = 'stalled' and state ="
                          + " 'running' and a.fence = 1 and a.progress_seq = 1 and"
                          + " lease_until > l.at + interval '8.5 seconds'")
                  == 1);
      WorkerProcess.release("silent-1");
      Await.until("done", DEADLINE, () -> "completed".equals(remote.state("silent-1")));
      Await.until("no alarm any more", DEADLINE, () -> worker.events.stalled == 0);
    } finally {
      WorkerProcess.release("silent-1");
      logger.detachAppender(log);
    }
  }

  /** How long the run had been silent, by the clock of its process, when the alarm was raised. */
  private static Duration silentWhenSaid(ListAppender<ILoggingEvent> log) {
    Pattern line =
        Pattern.compile(
            "stalled event=silent-1 type=pure queue=alarms phase=first progress=1"
                + " silent=([0-9]+)(m?s) lease=held");
    List<Duration> said =
        List.copyOf(log.list).stream()
            .map(event -> line.matcher(event.getFormattedMessage()))
            .filter(Matcher::matches)
            .map(
                found ->
                    Duration.of(
                        Long.parseLong(found.group(1)),
                        found.group(2).equals("s") ? ChronoUnit.SECONDS : ChronoUnit.MILLIS))
            .toList();
    assertThat(said).as("said once").hasSize(1);
    return said.get(0);
  }

  @Test
  void w16_theSlotOfAThreadThatRunsOnIsNotGivenAway() throws Exception {
    try (WorkerProcess worker = worker(Duration.ofSeconds(2))) {
      send("pure", "deaf-1", "next-1");
      Await.until("leaked", DEADLINE, () -> worker.events.leaked == 1);
      assertThat(worker.verticle.notReady()).contains("all slots of pure");
      Await.until(
          "timed out, waits", DEADLINE, () -> "retry_scheduled".equals(remote.state("deaf-1")));
      send("idempotent", "other-type");
      Await.until("others go on", DEADLINE, () -> "completed".equals(remote.state("other-type")));
      assertThat(remote.state("next-1")).as("no slot, no start").isNull();
      assertThat(
              remote.number("select attempts from fencepost.activities where event_id = 'deaf-1'"))
          .isEqualTo(1);
      WorkerProcess.release("deaf-1");
      Await.until("the slot is back", DEADLINE, () -> worker.events.leaked == 0);
      Await.until("it runs again", DEADLINE, () -> "completed".equals(remote.state("deaf-1")));
      Await.until("and the next", DEADLINE, () -> "completed".equals(remote.state("next-1")));
      assertThat(worker.verticle.notReady()).isNull();
      assertThat(
              remote.ask(
                  "select string_agg(outcome, ' ' order by fence) from fencepost.attempts where"
                      + " event_id = 'deaf-1'"))
          .isEqualTo("timed_out succeeded");
      assertThat(remote.ask("select error_class from fencepost.attempts where fence = 1"))
          .as("a word of the product's, not of its code")
          .isEqualTo("no_answer_by_hard_limit");
      assertThat(
              remote.number(
                  "select count(*) from fencepost.audit_log where event_id = 'deaf-1' and action in"
                      + " ('late_result', 'lease_lost')"))
          .as("its late result is evidence")
          .isPositive();
    } finally {
      WorkerProcess.release("deaf-1");
    }
  }

  /** As many as the pool has threads: they would take all of them from the other types. */
  @Test
  void threadsThatHangAreReplaced() throws Exception {
    int threads = WorkerProcess.POOL;
    String[] deaf = new String[threads];
    Arrays.setAll(deaf, i -> "deaf-of-many-" + i);
    try (WorkerProcess worker = worker(Duration.ofSeconds(2), threads)) {
      send("pure", deaf);
      Await.until("leaked", DEADLINE, () -> worker.events.leaked == threads);
      send("idempotent", "other-1", "other-2");
      Await.until(
          "others go on",
          DEADLINE,
          () ->
              "completed".equals(remote.state("other-1"))
                  && "completed".equals(remote.state("other-2")));
      assertThat(worker.events.leaked).as("they hang still").isEqualTo(threads);
      List.of(deaf).forEach(WorkerProcess::release);
      Await.until("the slots are back", DEADLINE, () -> worker.events.leaked == 0);
      Await.until(
          "and all is done",
          DEADLINE,
          () ->
              remote.number("select count(*) from fencepost.activities where state <> 'completed'")
                  == 0);
    } finally {
      List.of(deaf).forEach(WorkerProcess::release);
    }
  }

  @Test
  void aReviewIsStillOneAfterAnHourOfBackgroundLoops() throws Exception {
    try (WorkerProcess worker = worker(Duration.ofSeconds(10))) {
      send("irreversible", "unprintable-1");
      Await.until("review", DEADLINE, () -> "manual_review".equals(remote.state("unprintable-1")));
      long fence = remote.number("select fence from fencepost.activities");
      for (int quarter = 1; quarter <= 4; quarter++) {
        DatabaseTime.advance(database, Duration.ofMinutes(15));
        String flaky = "flaky-" + quarter;
        send("idempotent", flaky); // a retry that comes due says that the loops have run
        Await.until("the loops run", DEADLINE, () -> "completed".equals(remote.state(flaky)));
      }
      send("irreversible", "unprintable-1");
      Await.until("a duplicate", DEADLINE, () -> worker.events.acknowledged >= 6);
      assertThat(remote.state("unprintable-1")).isEqualTo("manual_review");
      assertThat(
              remote.number(
                  "select fence from fencepost.activities where event_id = 'unprintable-1'"))
          .isEqualTo(fence);
      assertThat(remote.count("remote_call", "unprintable-1")).isZero();
      assertThat(
              remote.number(
                  "select count(*) from fencepost.attempts where event_id = 'unprintable-1'"))
          .isEqualTo(1);
    }
  }
}
