package dev.fencepost.cli;

import dev.fencepost.boot.HandlerClasses;
import dev.fencepost.boot.ServerUris;
import dev.fencepost.config.ConfigFaults;
import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.config.FencepostConfig;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code fencepost check-config}. */
@Command(
    name = "check-config",
    description = {
      "Names every fault of a configuration file, with its path and what is allowed.",
      "Classes of handlers are loaded; one that is not on this class path is named,",
      "and is a fault with --strict: it may be there where the service runs."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  fencepost check-config -c conf/fencepost.yaml",
      "  FENCEPOST_CLASSPATH='/opt/handlers/*' \\",
      "      fencepost check-config -c conf/fencepost.yaml --strict"
    })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class CheckConfigCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ConfigFile config;

  @Option(names = "--strict", description = "A class that is not on this class path is a fault.")
  private boolean strict;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    List<Fault> faults = new ArrayList<>();
    try {
      FencepostConfig loaded = config.load();
      faults.addAll(ServerUris.faults(loaded));
      HandlerClasses classes = HandlerClasses.of(loaded);
      faults.addAll(classes.unfit());
      if (strict) {
        faults.addAll(classes.missing());
      } else {
        classes.missing().forEach(each -> err.println(config.path() + ": not checked: " + each));
      }
    } catch (ConfigFaults found) {
      faults.addAll(found.faults());
    }
    faults.forEach(fault -> out.println(config.path() + ": " + fault));
    if (faults.isEmpty()) {
      out.println(config.path() + ": no faults");
    }
    out.flush();
    err.flush();
    return faults.isEmpty() ? ExitCode.DONE : ExitCode.REFUSED;
  }
}
