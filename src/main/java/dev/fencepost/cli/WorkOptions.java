package dev.fencepost.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Whose work: the filters that all lists of work share. */
final class WorkOptions {
  @Option(names = "--consumer", paramLabel = "NAME", description = "Only of this consumer.")
  private @Nullable String consumer;

  @Option(names = "--type", paramLabel = "TYPE", description = "Only of this activity type.")
  private @Nullable String type;

  @Nullable String consumer() {
    return consumer;
  }

  @Nullable String type() {
    return type;
  }
}
