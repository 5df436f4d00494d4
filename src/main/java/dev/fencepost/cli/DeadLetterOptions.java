package dev.fencepost.cli;

import dev.fencepost.operations.DeadLetterFilter;
import dev.fencepost.operations.TimeSpan;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which dead letters. */
final class DeadLetterOptions {
  @Mixin private WorkOptions work = new WorkOptions();

  @Option(
      names = "--reason",
      paramLabel = "REASON",
      description = "poison_message, permanent_failure or retries_exhausted.")
  private @Nullable String reason;

  @Option(
      names = "--since",
      paramLabel = "T",
      description = "Only those that died at or after this: a time (UTC), or 2h ago.")
  private @Nullable String since;

  @Option(
      names = "--until",
      paramLabel = "T",
      description = "Only those that died before this: a time (UTC), or 15m ago.")
  private @Nullable String until;

  @Option(
      names = "--search",
      paramLabel = "TEXT",
      description = "Only those with this in event id or error.")
  private @Nullable String search;

  DeadLetterFilter filter() {
    return DeadLetterFilter.of(
            work.consumer(), work.type(), reason, TimeSpan.of(since, until, Instant.now()))
        .withSearch(search);
  }
}
