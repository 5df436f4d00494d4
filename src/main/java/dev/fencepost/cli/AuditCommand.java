package dev.fencepost.cli;

import dev.fencepost.operations.AuditFilter;
import dev.fencepost.operations.TimeSpan;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code fencepost audit}. */
@Command(
    name = "audit",
    description = "Who decided what, when and why; nothing deletes it.",
    mixinStandardHelpOptions = true,
    subcommands = AuditCommand.ListThem.class,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost audit list -c conf/fencepost.yaml --since 12h",
      "  fencepost audit list -c conf/fencepost.yaml --actor anna --json"
    })
final class AuditCommand extends GroupCommand {

  @Command(
      name = "list",
      description = "Lists the audit log, the newest line first.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost audit list -c conf/fencepost.yaml --actor anna --since 7d",
        "  fencepost audit list -c conf/fencepost.yaml --action redrive \\",
        "      --since 2025-03-31T14:00:00Z --until 2025-03-31T15:00:00Z",
        "  fencepost audit list -c conf/fencepost.yaml --event-id order-7 --json"
      })
  static final class ListThem extends OperatorCommand {
    private static final List<String> COLUMNS =
        List.of("at", "actor", "action", "consumer", "event_id", "fence", "evidence", "detail");

    @Option(names = "--consumer", paramLabel = "NAME", description = "Only of this consumer.")
    private @Nullable String consumer;

    @Option(
        names = "--event-id",
        paramLabel = "EVENT_ID",
        description = "Only of this event, its row of the outbox included.")
    private @Nullable String eventId;

    @Option(
        names = "--actor",
        paramLabel = "WHO",
        description = "Only what this operator, or this process, did.")
    private @Nullable String actor;

    @Option(
        names = "--action",
        paramLabel = "ACTION",
        description =
            "Only this: review_resolved, redrive, discard, outbox_retry, outbox_skip,"
                + " outbox_redirect, outbox_replay, takeover and others.")
    private @Nullable String action;

    @Option(
        names = "--since",
        paramLabel = "T",
        description = "Only at or after this: a time (UTC), or 2h ago.")
    private @Nullable String since;

    @Option(
        names = "--until",
        paramLabel = "T",
        description = "Only before this: a time (UTC), or 15m ago.")
    private @Nullable String until;

    @Mixin private ListOptions options = new ListOptions();

    @Override
    boolean lastUncut() {
      return true;
    }

    @Override
    int run() {
      AuditFilter filter =
          new AuditFilter(
              new AuditFilter.Event(consumer, eventId),
              actor,
              action,
              TimeSpan.of(since, until, Instant.now()));
      return printList(
          options,
          "no line of the audit log passes this filter",
          COLUMNS,
          operations -> page -> operations.audit().list(filter, page));
    }
  }
}
