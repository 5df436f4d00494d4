package dev.fencepost.operations;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A span of time: since (inclusive), until (exclusive); open where null. */
public record TimeSpan(@Nullable Instant since, @Nullable Instant until) {
  public static final TimeSpan ALWAYS = new TimeSpan(null, null);

  public TimeSpan {
    if (since != null && until != null && !since.isBefore(until)) {
      throw Input.refused("until", until.toString(), "a time after since, " + since);
    }
  }

  /**
   * From what an operator entered.
   *
   * @param now what spans such as {@code 2h} count back from
   */
  public static TimeSpan of(@Nullable String since, @Nullable String until, Instant now) {
    return new TimeSpan(Input.time("since", since, now), Input.time("until", until, now));
  }
}
