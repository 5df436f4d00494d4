package dev.fencepost.model;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A built-in handler's failure: what happened, not yet what it means for the activity's kind. */
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

  /** The least time to wait that the remote asked for, or null. */
  public @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
