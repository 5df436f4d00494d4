package dev.fencepost.api;

import org.jspecify.annotations.Nullable;

/** What a remote says about an event's work when it is asked. */
public record ProbeResult(Answer answer, @Nullable String detail) {

  /** The closed set of answers. */
  public enum Answer {
    SUCCEEDED,
    FAILED_PERMANENT,
    /** It did not happen, and no earlier call can still make it happen. */
    NEVER_HAPPENED,
    UNKNOWN
  }

  public static ProbeResult succeeded(@Nullable String detail) {
    return new ProbeResult(Answer.SUCCEEDED, detail);
  }

  public static ProbeResult failedPermanently(@Nullable String detail) {
    return new ProbeResult(Answer.FAILED_PERMANENT, detail);
  }

  public static ProbeResult neverHappened() {
    return new ProbeResult(Answer.NEVER_HAPPENED, null);
  }

  public static ProbeResult unknown(@Nullable String detail) {
    return new ProbeResult(Answer.UNKNOWN, detail);
  }
}
