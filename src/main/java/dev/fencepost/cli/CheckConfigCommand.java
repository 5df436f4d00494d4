package dev.fencepost.cli;

import dev.fencepost.config.ConfigFaults;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code fencepost check-config}. */
@Command(
    name = "check-config",
    description = "Names every fault of a configuration file, with its path and what is allowed.",
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = "  fencepost check-config -c conf/fencepost.yaml")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class CheckConfigCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ConfigFile config;

  @Override
  public Integer call() {
    try {
      config.load();
    } catch (ConfigFaults faults) {
      PrintWriter out = spec.commandLine().getOut();
      faults.faults().forEach(fault -> out.println(config.path() + ": " + fault));
      out.flush();
      return ExitCode.REFUSED;
    }
    spec.commandLine().getOut().println(config.path() + ": no faults");
    return ExitCode.DONE;
  }
}
