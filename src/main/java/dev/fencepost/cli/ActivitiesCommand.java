package dev.fencepost.cli;

import dev.fencepost.operations.ActivityFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code fencepost activities}. */
@Command(
    name = "activities",
    description = "What became of events: one activity for each consumer and event.",
    mixinStandardHelpOptions = true,
    subcommands = {ActivitiesCommand.ListThem.class, ActivitiesCommand.Show.class},
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost activities list -c conf/fencepost.yaml --state manual_review",
      "  fencepost activities show -c conf/fencepost.yaml notifications order-7"
    })
final class ActivitiesCommand extends GroupCommand {

  @Command(
      name = "list",
      description = "Lists activities by consumer and event id.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost activities list -c conf/fencepost.yaml --consumer notifications",
        "  fencepost activities list -c conf/fencepost.yaml \\",
        "      --state retry_scheduled --json"
      })
  static final class ListThem extends OperatorCommand {
    private static final List<String> COLUMNS =
        List.of(
            "consumer",
            "event_id",
            "type",
            "kind",
            "state",
            "attempts",
            "retries",
            "redeliveries",
            "fence",
            "next_attempt_at");

    @Mixin private WorkOptions work = new WorkOptions();

    @Option(
        names = "--state",
        paramLabel = "STATE",
        description =
            "Only in this state: running, retry_scheduled, blocked, completed, dead, manual_review,"
                + " unresolved.")
    private @Nullable String state;

    @Mixin private ListOptions options = new ListOptions();

    @Override
    int run() {
      ActivityFilter filter = ActivityFilter.of(work.consumer(), work.type(), state);
      return printList(
          options,
          "no activity passes this filter",
          COLUMNS,
          operations -> page -> operations.activities().list(filter, page));
    }
  }

  @Command(
      name = "show",
      description = "Shows state, lease, attempts, receipts and audit trail in order of time.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost activities show -c conf/fencepost.yaml notifications order-7",
        "  fencepost activities show -c conf/fencepost.yaml notifications order-7 \\",
        "      --json"
      })
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  static final class Show extends OperatorCommand {
    @Mixin private EventName event;

    @Override
    int run() {
      return printHistory(
          ask(
              READING,
              operations -> operations.activities().show(event.consumer(), event.eventId())));
    }
  }
}
