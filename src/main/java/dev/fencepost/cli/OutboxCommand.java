package dev.fencepost.cli;

import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.Input;
import dev.fencepost.operations.ParkedFilter;
import dev.fencepost.operations.ParkedRequest;
import dev.fencepost.operations.ReplayRequest;
import dev.fencepost.operations.ReplayResult;
import dev.fencepost.operations.Who;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fencepost outbox}. */
@Command(
    name = "outbox",
    description = "Rows that the broker refused, and publishing once more what is still retained.",
    mixinStandardHelpOptions = true,
    subcommands = {
      OutboxCommand.Parked.class,
      OutboxCommand.Retry.class,
      OutboxCommand.Skip.class,
      OutboxCommand.Redirect.class,
      OutboxCommand.Replay.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost outbox parked -c conf/fencepost.yaml",
      "  fencepost outbox retry -c conf/fencepost.yaml order-7 --operator anna",
      "  fencepost outbox replay -c conf/fencepost.yaml --since 2h \\",
      "      --type order.placed --dry-run"
    })
final class OutboxCommand extends GroupCommand {

  @Command(
      name = "parked",
      description = "Lists parked rows by lane and seq.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost outbox parked -c conf/fencepost.yaml \\",
        "      --reason exchange_missing --json"
      })
  static final class Parked extends OperatorCommand {
    private static final List<String> COLUMNS =
        List.of(
            "lane",
            "seq",
            "event_id",
            "key",
            "exchange",
            "routing_key",
            "reason",
            "attempts",
            "next_attempt_at");

    @Option(names = "--key", paramLabel = "KEY", description = "Only of this ordering key.")
    private @Nullable String key;

    @Option(names = "--exchange", paramLabel = "E", description = "Only to this exchange.")
    private @Nullable String exchange;

    @Option(
        names = "--reason",
        paramLabel = "REASON",
        description =
            "unroutable, exchange_missing, access_refused, rejected, too_large, invalid_property or"
                + " behind_key.")
    private @Nullable String reason;

    @Mixin private ListOptions options = new ListOptions();

    @Override
    int run() {
      ParkedFilter filter = ParkedFilter.of(key, exchange, reason);
      return printList(
          options,
          "nothing is parked",
          COLUMNS,
          operations -> page -> operations.outbox().parked(filter, page));
    }
  }

  /** What retry, skip and redirect have in common. */
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  abstract static class Ask extends OperatorCommand {
    @Parameters(
        paramLabel = "KEY_OR_SEQ",
        description =
            "An ordering key: its first parked row, which holds up the others. Or a row's seq.")
    private String row;

    @Option(names = "--all", description = "Every parked row of the key.")
    private boolean all;

    @Mixin private OperatorOption operator = new OperatorOption();

    @Option(names = "--note", paramLabel = "TEXT", description = "Why; kept in the audit log.")
    private @Nullable String note;

    int ask(ParkedRequest.Action action, ParkedRequest.@Nullable Target to) {
      ParkedRequest request =
          new ParkedRequest(
              action,
              new ParkedRequest.Row(row, ParkedRequest.By.KEY_OR_SEQ, all),
              new Who(Input.required("operator", operator.name(), 200), note),
              to);
      BulkResult result = ask(READING, operations -> operations.outbox().request(request));
      return printBulk(result, "requested of the lane's owner");
    }
  }

  @Command(
      name = "retry",
      description = "Has a parked row published now, without waiting for its backoff.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {"  fencepost outbox retry -c conf/fencepost.yaml order-7 --operator anna"})
  static final class Retry extends Ask {
    @Override
    int run() {
      return ask(ParkedRequest.Action.RETRY, null);
    }
  }

  @Command(
      name = "skip",
      description = "Gives a parked row up: it is never published; what waits behind it goes on.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost outbox skip -c conf/fencepost.yaml 120433 --operator anna \\",
        "      --note 'sent twice by the old writer, ticket 4711'"
      })
  static final class Skip extends Ask {
    @Override
    int run() {
      return ask(ParkedRequest.Action.SKIP, null);
    }
  }

  @Command(
      name = "redirect",
      description =
          "Has a parked row published elsewhere; by key also those behind it that go to "
              + "the same exchange and routing key.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost outbox redirect -c conf/fencepost.yaml order-7 \\",
        "      --exchange orders --routing-key order.placed --operator anna"
      })
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  static final class Redirect extends Ask {
    @Option(
        names = "--exchange",
        paramLabel = "E",
        required = true,
        description = "The exchange to publish to.")
    private String exchange;

    @Option(
        names = "--routing-key",
        paramLabel = "R",
        description = "The routing key; by default the row's own.")
    private @Nullable String routingKey;

    @Override
    int run() {
      return ask(ParkedRequest.Action.REDIRECT, new ParkedRequest.Target(exchange, routingKey));
    }
  }

  @Command(
      name = "replay",
      description =
          "Publishes once more what is still retained: same event ids, with the header "
              + "fencepost-replay. Old events then follow newer ones of their key.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost outbox replay -c conf/fencepost.yaml --since 2h --dry-run",
        "  fencepost outbox replay -c conf/fencepost.yaml \\",
        "      --since 2025-03-31T14:00:00Z --until 2025-03-31T15:00:00Z \\",
        "      --exchange orders --rate 500 --operator anna --note 'mail was down'"
      })
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  static final class Replay extends OperatorCommand {
    @Option(
        names = "--since",
        paramLabel = "T",
        required = true,
        description = "Written at or after this: a time (UTC), or 2h ago.")
    private String since;

    @Option(
        names = "--until",
        paramLabel = "T",
        description = "Written before this; by default the start of the replay.")
    private @Nullable String until;

    @Option(names = "--exchange", paramLabel = "E", description = "Only to this exchange.")
    private @Nullable String exchange;

    @Option(names = "--type", paramLabel = "T", description = "Only of this type.")
    private @Nullable String type;

    @Option(names = "--dry-run", description = "Only count what would be published.")
    private boolean dryRun;

    @Option(
        names = "--rate",
        paramLabel = "PER_SECOND",
        description = "At most so many in a second.")
    private int rate;

    @Option(
        names = "--operator",
        paramLabel = "WHO",
        defaultValue = "${sys:user.name}",
        description = "Who replays; kept in the audit log. Default: this machine's user.")
    private String operator;

    @Option(names = "--note", paramLabel = "TEXT", description = "Why; kept in the audit log.")
    private @Nullable String note;

    @Override
    int run() {
      Who by = new Who(Input.required("operator", operator, 200), note);
      Instant now = Instant.now();
      ReplayRequest request =
          new ReplayRequest(
              ReplayRequest.requireSince(Input.time("since", since, now)),
              Input.time("until", until, now),
              exchange,
              type,
              dryRun,
              rate);
      try (ProgressLine progress = ProgressLine.of(err(), dryRun ? "found" : "replayed")) {
        ReplayResult done =
            ask(WORKING, operations -> operations.outbox().replay(request, by, progress));
        progress.close();
        report(done);
      }
      return ExitCode.DONE;
    }

    private void report(ReplayResult done) {
      if (json()) {
        print(done.toJson());
        return;
      }
      out()
          .println(
              (done.dryRun() ? "dry run: " : "")
                  + done.rows()
                  + (done.dryRun() ? " rows would be replayed" : " rows replayed")
                  + ", written from "
                  + done.since()
                  + " until "
                  + done.until());
      out().println(ReplayResult.ORDER_NOTE);
    }
  }
}
