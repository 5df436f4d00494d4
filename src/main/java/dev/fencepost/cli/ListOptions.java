package dev.fencepost.cli;

import dev.fencepost.operations.Input;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How much of a list. */
final class ListOptions {
  private static final int FOR_PEOPLE = 100;
  private static final int ALL = Integer.MAX_VALUE;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "At most so many; by default 100, and with --json all.")
  private @Nullable Integer limit;

  @Option(
      names = "--after",
      paramLabel = "CURSOR",
      description = "Go on where an earlier list ended.")
  private @Nullable String after;

  int limit(boolean json) {
    if (limit != null && limit < 1) {
      throw Input.refused("limit", limit.toString(), "a whole number from 1");
    }
    return limit == null ? (json ? ALL : FOR_PEOPLE) : limit;
  }

  @Nullable String after() {
    return after;
  }
}
