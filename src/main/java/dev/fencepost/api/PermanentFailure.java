package dev.fencepost.api;

import org.jspecify.annotations.Nullable;

/**
 * "It did not happen and never will." The event becomes a dead letter at once.
 *
 * <p>Recognised too inside what the JDK wraps it in ({@code CompletionException}, {@code
 * ExecutionException}, {@code InvocationTargetException}); as the cause of anything else it is not.
 */
public class PermanentFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PermanentFailure(String message) {
    super(message);
  }

  public PermanentFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
