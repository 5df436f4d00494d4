package dev.fencepost.cli;

import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewStore;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code fencepost review}. */
@Command(
    name = "review",
    description = "What may have happened and must not be repeated by a machine: people decide.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ReviewCommand.ListThem.class,
      ReviewCommand.Show.class,
      ReviewCommand.Resolve.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost review list -c conf/fencepost.yaml",
      "  fencepost review show -c conf/fencepost.yaml payments pay-8812",
      "  fencepost review resolve -c conf/fencepost.yaml payments pay-8812 \\",
      "      --as succeeded --operator anna --evidence 'bank statement 17, line 3'"
    })
final class ReviewCommand extends GroupCommand {

  @Command(
      name = "list",
      description = "Lists activities that wait for a decision.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {"  fencepost review list -c conf/fencepost.yaml --consumer payments --json"})
  static final class ListThem extends OperatorCommand {
    private static final List<String> COLUMNS =
        List.of(
            "consumer", "event_id", "type", "kind", "attempts", "fence", "phase", "first_seen_at");

    @Mixin private WorkOptions work = new WorkOptions();

    @Mixin private ListOptions options = new ListOptions();

    @Override
    int run() {
      return printList(
          options,
          "nothing waits for a decision",
          COLUMNS,
          operations -> page -> operations.reviews().list(work.consumer(), work.type(), page));
    }
  }

  @Command(
      name = "show",
      description = "Shows the evidence there is: attempts, progress, late answers.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {"  fencepost review show -c conf/fencepost.yaml payments pay-8812"})
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  static final class Show extends OperatorCommand {
    @Mixin private EventName event;

    @Override
    int run() {
      return printHistory(
          ask(READING, operations -> operations.reviews().show(event.consumer(), event.eventId())));
    }
  }

  @Command(
      name = "resolve",
      description =
          "Records what a person found out. succeeded: it happened, a receipt is written. "
              + "failed: it did not and must not happen, a dead letter is written. retry: it "
              + "did not happen and may start once more, even at the limit.",
      mixinStandardHelpOptions = true,
      footerHeading = "%nExamples:%n",
      footer = {
        "  fencepost review resolve -c conf/fencepost.yaml payments pay-8812 \\",
        "      --as succeeded --operator anna \\",
        "      --evidence 'bank statement 17, line 3' --fence 2"
      })
  @SuppressWarnings("NullAway.Init") // picocli sets the fields
  static final class Resolve extends OperatorCommand {
    @Mixin private EventName event;

    @Option(
        names = "--as",
        paramLabel = "OUTCOME",
        required = true,
        description = "succeeded, failed or retry.")
    private String as;

    @Mixin private OperatorOption operator = new OperatorOption();

    @Option(
        names = "--evidence",
        paramLabel = "TEXT",
        required = true,
        description = "How you know; kept in the audit log.")
    private String evidence;

    @Option(
        names = "--fence",
        paramLabel = "N",
        description = "The fence you decided on: refused when it is another by now.")
    private @Nullable Long fence;

    @Override
    int run() {
      ReviewRequest request =
          ReviewRequest.of(event.consumer(), event.eventId(), as, operator.name(), evidence, fence);
      ReviewStore.Resolution done =
          ask(READING, operations -> operations.reviews().resolve(request));
      if (json()) {
        print(done.toJson());
      } else {
        out().println(event + " is " + done.state().wire() + " now, fence " + done.fence());
      }
      return ExitCode.DONE;
    }
  }
}
