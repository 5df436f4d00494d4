package dev.fencepost.cli;

import dev.fencepost.operations.BulkRequest;
import dev.fencepost.operations.BulkResult;
import dev.fencepost.operations.DeadLetterDesk;
import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.Input;
import dev.fencepost.operations.Progress;
import dev.fencepost.operations.ViewRow;
import dev.fencepost.operations.Who;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code fencepost dead-letters}. */
@Command(
    name = "dead-letters",
    description = "Events that ended in failure, each with its body; look, redrive, discard.",
    mixinStandardHelpOptions = true,
    subcommands = {
      DeadLettersCommand.ListThem.class,
      DeadLettersCommand.Show.class,
      DeadLettersCommand.Redrive.class,
      DeadLettersCommand.Discard.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost dead-letters list -c conf/fencepost.yaml \\",
      "      --reason retries_exhausted --since 2h",
      "  fencepost dead-letters redrive -c conf/fencepost.yaml --consumer mail \\",
      "      --since 2h --dry-run",
      "  fencepost dead-letters redrive -c conf/fencepost.yaml 17 18 \\",
      "      --operator anna"
    })
final class DeadLettersCommand extends GroupCommand {

  @Command(
      name = "list",
      description = "Lists dead letters, the newest first; bodies are cut to 4 KiB.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost dead-letters list -c conf/fencepost.yaml --consumer mail \\",
        "      --since 2h",
        "  fencepost dead-letters list -c conf/fencepost.yaml --state all \\",
        "      --search timeout --json"
      })
  static final class ListThem extends OperatorCommand {
    private static final List<String> COLUMNS =
        List.of(
            "id",
            "consumer",
            "event_id",
            "type",
            "reason",
            "attempts",
            "dead_at",
            "state",
            "error_message");

    @Mixin private DeadLetterOptions which = new DeadLetterOptions();

    @Option(
        names = "--state",
        paramLabel = "STATE",
        defaultValue = "open",
        description = "open (the default), redriven, discarded or all.")
    private String state = "open";

    @Mixin private ListOptions options = new ListOptions();

    @Override
    int run() {
      DeadLetterFilter filter =
          which
              .filter()
              .withState(
                  state.equals("all")
                      ? null
                      : Input.requiredChoice("state", state, DeadLetterFilter.State.class));
      return printList(
          options,
          "no dead letter passes this filter",
          COLUMNS,
          operations -> page -> operations.deadLetters().list(filter, page));
    }
  }

  @Command(
      name = "show",
      description = "Shows one dead letter, body, headers and properties included.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {"  fencepost dead-letters show -c conf/fencepost.yaml 17 --json"})
  static final class Show extends OperatorCommand {
    @Parameters(paramLabel = "ID", description = "The dead letter's id.")
    private long id;

    @Override
    int run() {
      ViewRow row = ask(READING, operations -> operations.deadLetters().show(id));
      if (json()) {
        print(row.toJson());
      } else {
        printRow(row);
      }
      return ExitCode.DONE;
    }
  }

  /** What redrive and discard have in common. */
  abstract static class Bulk extends OperatorCommand {
    @Parameters(paramLabel = "ID", arity = "0..*", description = "Dead letters by id.")
    private List<Long> ids = new ArrayList<>();

    @Mixin private DeadLetterOptions which = new DeadLetterOptions();

    @Option(names = "--all", description = "Every open one, without a filter.")
    private boolean all;

    @Option(names = "--dry-run", description = "Say what would be done and change nothing.")
    private boolean dryRun;

    @Option(
        names = "--rate",
        paramLabel = "PER_SECOND",
        description = "At most so many in a second.")
    private @Nullable Integer rate;

    @Mixin private OperatorOption operator = new OperatorOption();

    @Option(names = "--note", paramLabel = "TEXT", description = "Why; kept in the audit log.")
    private @Nullable String note;

    abstract String verb();

    abstract Future<BulkResult> apply(DeadLetterDesk desk, BulkRequest request, Progress progress);

    @Override
    int run() {
      if (rate != null && rate < 1) {
        throw Input.refused("rate", rate.toString(), "1 or more per second");
      }
      String who = operator.name();
      BulkRequest request =
          new BulkRequest(
              ids,
              which.filter(),
              all,
              who == null ? null : new Who(who, note),
              new BulkRequest.Pace(dryRun, rate == null ? 0 : rate, BulkRequest.Pace.ALL));
      try (ProgressLine progress = ProgressLine.of(err(), verb())) {
        BulkResult result =
            ask(WORKING, operations -> apply(operations.deadLetters(), request, progress));
        progress.close();
        return printBulk(result, verb());
      }
    }
  }

  @Command(
      name = "redrive",
      description =
          "Starts events anew, each with a fresh budget of attempts, from the body kept "
              + "in the database. Saying it twice does nothing twice. Those that die meanwhile "
              + "are not touched.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost dead-letters redrive -c conf/fencepost.yaml 17 18 \\",
        "      --operator anna",
        "  fencepost dead-letters redrive -c conf/fencepost.yaml \\",
        "      --reason retries_exhausted --since 2h --dry-run",
        "  fencepost dead-letters redrive -c conf/fencepost.yaml \\",
        "      --reason retries_exhausted --since 2h --rate 50 --operator anna"
      })
  static final class Redrive extends Bulk {
    @Override
    String verb() {
      return "redriven";
    }

    @Override
    Future<BulkResult> apply(DeadLetterDesk desk, BulkRequest request, Progress progress) {
      return desk.redrive(request, progress);
    }
  }

  @Command(
      name = "discard",
      description = "Gives events up; their dead letters and bodies stay on record.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost dead-letters discard -c conf/fencepost.yaml 17 --operator anna",
        "  fencepost dead-letters discard -c conf/fencepost.yaml \\",
        "      --reason poison_message --until 7d --operator anna \\",
        "      --note 'sent by the old writer'"
      })
  static final class Discard extends Bulk {
    @Override
    String verb() {
      return "discarded";
    }

    @Override
    Future<BulkResult> apply(DeadLetterDesk desk, BulkRequest request, Progress progress) {
      return desk.discard(request, progress);
    }
  }
}
