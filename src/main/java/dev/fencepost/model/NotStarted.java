package dev.fencepost.model;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The run was given up before it called anything, since its remote is known to be away (an open
 * circuit breaker): as a refused connection, and neither an attempt nor a retry of the event.
 */
public class NotStarted extends RunFailure {
  private static final long serialVersionUID = 1L;

  /**
   * @param after when to try again
   */
  public NotStarted(String message, Duration after, @Nullable Throwable cause) {
    super(RunEvent.CONNECTION_REFUSED, message, after, cause);
  }

  @Override
  public String word() {
    return "not_started";
  }
}
