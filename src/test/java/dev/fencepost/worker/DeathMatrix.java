package dev.fencepost.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.fencepost.testing.Await;
import dev.fencepost.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** spec/death-matrix.csv as it is. */
final class DeathMatrix {
  private DeathMatrix() {}

  /** A row of the table; its queue and its event have the same name. */
  record Row(
      String stage,
      String kind,
      String state,
      String calls,
      String effects,
      String attempts,
      String decision) {
    private static Row of(String line) {
      String[] fields = line.split(",", -1);
      return new Row(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]);
    }

    String queue() {
      return stage + "." + kind;
    }

    boolean isEffect() {
      return kind.equals("effect");
    }

    /** Whether somebody else decides about a lost start. */
    boolean isTakenOver() {
      return !decision.isEmpty() && !decision.equals("duplicate");
    }
  }

  static List<Row> rows() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("src/test/resources/spec/death-matrix.csv"))) {
      return lines.skip(1).filter(line -> !line.isBlank()).map(Row::of).toList();
    }
  }

  /**
   * A second JVM that has completed an event of the row's kind and then gives itself a signal at
   * the row's stage, with the row's event.
   */
  static ServiceProcess victim(Row row, String database, String broker, String signal)
      throws Exception {
    Duration deadline = Duration.ofSeconds(120);
    ServiceProcess victim =
        ServiceProcess.start(
            WorkerProcess.class, database, broker, row.queue(), row.stage(), signal);
    try (Publishing publishing = new Publishing(broker)) {
      publishing.declare(row.queue());
      publishing.send(row.queue(), row.kind(), row.queue() + ".baseline");
      victim.awaitLine("^armed", deadline);
      publishing.send(row.queue(), row.kind(), row.queue());
      publishing.confirmed();
      victim.awaitLine(signal + " at", deadline);
      return victim;
    } catch (AssertionError e) {
      victim.close();
      throw new AssertionError(row + ": " + e.getMessage(), e);
    }
  }

  /** Each run ends with it: the survivor consumes, and has nothing left to do. */
  static void assertReady(WorkerProcess survivor, Remote remote) {
    Await.until("ready", Duration.ofSeconds(30), () -> survivor.verticle.notReady() == null);
    assertThat(
            remote.ask(
                "select string_agg(event_id, ', ') from fencepost.activities where state in"
                    + " ('running', 'retry_scheduled')"))
        .as("left undone")
        .isNull();
  }
}
