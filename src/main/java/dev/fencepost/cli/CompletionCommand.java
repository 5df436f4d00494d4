package dev.fencepost.cli;

import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code fencepost completion}. */
@Command(
    name = "completion",
    description = "Prints a script that completes commands and options in the shell.",
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  source <(fencepost completion bash)",
      "  fencepost completion bash > /etc/bash_completion.d/fencepost",
      "  source <(fencepost completion zsh)"
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class CompletionCommand implements Callable<Integer> {
  /** zsh reads the script for bash once its own completion has been loaded. */
  private static final String ZSH =
      "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n";

  enum Shell {
    BASH,
    ZSH;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
  private Shell shell;

  @Override
  public Integer call() {
    if (shell == Shell.ZSH) {
      spec.commandLine().getOut().print(ZSH);
    }
    spec.commandLine().getOut().print(AutoComplete.bash("fencepost", spec.root().commandLine()));
    spec.commandLine().getOut().flush();
    return ExitCode.DONE;
  }
}
