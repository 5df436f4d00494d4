package dev.fencepost.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who does it: goes into the audit log. */
final class OperatorOption {
  @Option(
      names = "--operator",
      paramLabel = "WHO",
      description = "Who decides this; kept in the audit log.")
  private @Nullable String operator;

  @Nullable String name() {
    return operator == null || operator.isBlank() ? null : operator;
  }
}
