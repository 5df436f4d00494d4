package dev.fencepost.cli;

import dev.fencepost.boot.Parts;
import dev.fencepost.boot.ServiceProcess;
import dev.fencepost.config.FencepostConfig;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code fencepost run}. */
@Command(
    name = "run",
    description = {
      "Runs the service until SIGTERM or SIGINT.",
      "Servers out of reach are waited for; /health/ready says what is missing.",
      "SIGHUP, or the file changing, re-reads it: what is marked (live) in",
      "conf/fencepost.yaml changes at once, what needs a restart is named."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost run -c conf/fencepost.yaml",
      "  fencepost run -c conf/fencepost.yaml --only relay"
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class RunCommand implements Callable<Integer> {

  /** What {@code --only} takes. */
  enum Only {
    RELAY,
    WORKER;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @ParentCommand private RootCommand root;
  @Mixin private ConfigFile config;

  @Option(
      names = "--only",
      paramLabel = "relay|worker",
      description = "Run one half in this process; valid: ${COMPLETION-CANDIDATES}.")
  private @Nullable Only only;

  @Override
  public Integer call() {
    FencepostConfig loaded = config.load();
    Logs.service(loaded.operation().log(), root.verbose());
    Parts parts =
        only == null
            ? Parts.of(loaded)
            : only == Only.RELAY ? Parts.relayOnly() : Parts.workerOnly();
    ServiceProcess.run(config.path(), loaded, parts);
    return ExitCode.DONE;
  }
}
