package dev.fencepost.api;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * "It did not happen, and may work later." Retried with backoff while retries and attempts last.
 * For {@code irreversible} and {@code queryable} activities throw it only when the work is known
 * not to have happened.
 *
 * <p>Recognised too inside what the JDK wraps it in ({@code CompletionException}, {@code
 * ExecutionException}, {@code InvocationTargetException}); as the cause of anything else it is not.
 */
public class TransientFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final @Nullable Duration after;

  public TransientFailure(String message) {
    this(message, null, null);
  }

  public TransientFailure(String message, @Nullable Throwable cause) {
    this(message, null, cause);
  }

  /**
   * @param after the least time to wait before the next start; the policy's delay when it is longer
   */
  public TransientFailure(String message, @Nullable Duration after, @Nullable Throwable cause) {
    super(message, cause);
    this.after = after;
  }

  /** The least time to wait, when the failure named one; where this throws, it named none. */
  public Optional<Duration> after() {
    return Optional.ofNullable(after);
  }
}
