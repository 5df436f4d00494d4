package dev.fencepost.cli;

import dev.fencepost.operations.DeadLetterFilter;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which dead letters. */
final class DeadLetterOptions {
  @Option(names = "--consumer", paramLabel = "NAME", description = "Only of this consumer.")
  private @Nullable String consumer;

  @Option(names = "--type", paramLabel = "TYPE", description = "Only of this activity type.")
  private @Nullable String type;

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
            consumer, type, reason, DeadLetterFilter.Span.of(since, until, Instant.now()))
        .withSearch(search);
  }
}
