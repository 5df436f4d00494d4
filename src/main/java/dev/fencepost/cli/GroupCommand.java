package dev.fencepost.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that is nothing without one of its subcommands. */
@SuppressWarnings("NullAway.Init") // picocli sets the field
abstract class GroupCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    throw new ParameterException(
        spec.commandLine(),
        "Missing subcommand: one of " + String.join(", ", spec.subcommands().keySet()));
  }
}
