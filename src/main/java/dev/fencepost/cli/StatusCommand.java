package dev.fencepost.cli;

import dev.fencepost.operations.Status;
import dev.fencepost.operations.ViewRow;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** {@code fencepost status}. */
@Command(
    name = "status",
    description =
        "Shows where everything stands: per lane the age of the backlog, its owner and "
            + "why it lags; per queue what is in flight, due, in review and dead. Counts stop "
            + "at 10000 and say so.",
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost status -c conf/fencepost.yaml",
      "  fencepost status -c conf/fencepost.yaml \\",
      "      --json | jq '.lanes[] | select(.lag_cause != \"none\")'"
    })
final class StatusCommand extends OperatorCommand {

  @Override
  int run() {
    Status status = ask(READING, operations -> operations.status().status());
    if (json()) {
      print(status.toJson());
      return ExitCode.DONE;
    }
    TextTable lanes = new TextTable("LANE", "OLDEST", "WHY", "BACKLOG", "PARKED", "OWNER", "FENCE");
    Instant now = Instant.now();
    for (ViewRow lane : status.lanes()) {
      lanes.row(
          lane.text("lane"),
          age(lane.instant("oldest_unpublished_at"), now),
          lane.text("lag_cause"),
          lane.text("backlog"),
          lane.text("parked"),
          lane.text("owner"),
          lane.text("fence"));
    }
    lanes.print(out());
    out().println();
    queues(status).print(out());
    return ExitCode.DONE;
  }

  private static TextTable queues(Status status) {
    TextTable queues =
        new TextTable(
            "QUEUE",
            "IN_FLIGHT",
            "EXPIRED",
            "DUE",
            "LATER",
            "BLOCKED",
            "UNRESOLVED",
            "REVIEWS",
            "DEAD");
    for (Status.QueueStatus queue : status.queues()) {
      queues.row(
          queue.consumer(),
          queue.waiting().inFlight(),
          text(queue.oldestExpiredLease()),
          queue.waiting().dueRetries(),
          queue.waiting().scheduledRetries(),
          queue.waiting().blocked(),
          queue.ended().unresolved(),
          queue.ended().reviews(),
          queue.ended().openDeadLetters());
    }
    return queues;
  }

  private static String age(@Nullable Instant since, Instant now) {
    if (since == null) {
      return "-";
    }
    return text(Duration.between(since, now));
  }

  private static String text(@Nullable Duration age) {
    if (age == null) {
      return "-";
    }
    return age.isNegative()
        ? "0s"
        : age.toSeconds() < 60
            ? age.toSeconds() + "s"
            : age.toMinutes() < 60
                ? age.toMinutes() + "m" + age.toSecondsPart() + "s"
                : age.toHours() + "h" + age.toMinutesPart() + "m";
  }
}
