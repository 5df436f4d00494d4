package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.RabbitServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A broker that takes messages back, and one that goes away, under a whole worker. */
class WorkerOutageIT {
  private static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final Duration HARD = Duration.ofSeconds(4);
  private static final int STARTS = 2;
  private static final int SLOTS = 16;
  private static final String QUEUE = "outage";

  private final String database = WorkerProcess.database();
  private final Remote remote = new Remote(database);

  /** As the usual queue, but idempotent work has two starts, each of four seconds. */
  private static QueueConfig config() {
    ActivityConfig.Retry retry =
        new ActivityConfig.Retry(10, Duration.ofMillis(100), 1, Duration.ofSeconds(1), 0, STARTS);
    return new DifferentType(SLOTS, DifferentType.USUAL_LEASE, HARD, null, retry)
        .in(QUEUE, "idempotent");
  }

  /**
   * The broker takes a message back while it runs, again and again: its starts are counted, and end
   * as the table says; the consumer comes back each time, and is not ready while it is away.
   */
  @Test
  void w01_w02_aRunThatOutlivesTheConsumerTimeoutIsCountedAndTheConsumerComesBack()
      throws Exception {
    try (RabbitServer rabbit = RabbitServer.start()) {
      rabbit.eval(
          "application:set_env(rabbit, channel_tick_interval, 500),"
              + " application:set_env(rabbit, consumer_timeout, 1000)");
      String broker = rabbit.newVhost();
      try (WorkerProcess worker =
          new WorkerProcess(database, broker, new Death(Stage.NONE, "KILL"), List.of(config()))) {
        send(broker, "silent-w01");
        Await.until("it comes again while it runs", DEADLINE, () -> worker.events.delivered > 1);
        Await.until("it has ended", DEADLINE, () -> "dead".equals(remote.state("silent-w01")));
        assertThat(remote.ask("select reason || ' ' || attempts from fencepost.dead_letters"))
            .isEqualTo("retries_exhausted " + STARTS);
        assertThat(worker.events.starts).as("not one for each delivery").isEqualTo(STARTS);
        assertThat(
                remote.ask(
                    "select string_agg(outcome, ' ') from fencepost.attempts where outcome <>"
                        + " 'interrupted'"))
            .isEqualTo("timed_out timed_out");
        send(broker, "after");
        Await.until("it consumes", DEADLINE, () -> "completed".equals(remote.state("after")));
        Await.until("ready", DEADLINE, () -> worker.verticle.notReady() == null);

        ListAppender<ILoggingEvent> log = appended();
        rabbit.stop();
        Await.until("it says so", DEADLINE, () -> worker.verticle.notReady() != null);
        assertThat(worker.verticle.notReady()).contains(QUEUE);
        Await.until("it refuses", DEADLINE, () -> worker.verticle.notReady().contains("refused"));
        rabbit.restart();
        send(broker, "later");
        Await.until("it consumes again", DEADLINE, () -> "completed".equals(remote.state("later")));
        Await.until("ready again", DEADLINE, () -> worker.verticle.notReady() == null);
        assertThat(warned(log)).as("once in an outage, however many tries it takes").hasSize(1);
      }
    }
  }

  private static ListAppender<ILoggingEvent> appended() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    ((Logger) LoggerFactory.getLogger("dev.fencepost")).addAppender(log);
    return log;
  }

  private static List<String> warned(ListAppender<ILoggingEvent> log) {
    ((Logger) LoggerFactory.getLogger("dev.fencepost")).detachAppender(log);
    return List.copyOf(log.list).stream()
        .filter(event -> event.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.startsWith("queue") && line.contains(QUEUE))
        .toList();
  }

  private static void send(String broker, String id) throws Exception {
    Publishing.toQueue(broker, QUEUE, "idempotent", id);
  }
}
