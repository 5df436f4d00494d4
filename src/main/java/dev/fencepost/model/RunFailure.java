package dev.fencepost.model;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A failure that we have met ourselves, in a built-in handler or around any: what happened, not yet
 * what it means for the activity's kind.
 */
public class RunFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final RunEvent event;
  private final @Nullable Duration retryAfter;

  public RunFailure(
      RunEvent event, String message, @Nullable Duration retryAfter, @Nullable Throwable cause) {
    super(message, cause);
    this.event = event;
    this.retryAfter = retryAfter;
  }

  public RunEvent event() {
    return event;
  }

  /** What is stored and shown as its class: of a closed set, whatever the code is called. */
  public String word() {
    return event.wire();
  }

  /** The least time to wait that the remote asked for, or null. */
  public @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
