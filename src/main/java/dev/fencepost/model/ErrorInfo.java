package dev.fencepost.model;

import org.jspecify.annotations.Nullable;

/**
 * A failure as it is stored and shown; made storable (NUL, lone surrogates, length) by the store.
 *
 * @param errorClass a stable word where the failure is one of ours, otherwise the name of the class
 *     that a user's handler failed with
 */
public record ErrorInfo(String errorClass, @Nullable String message, @Nullable String cause) {
  private static final String UNAVAILABLE = "message unavailable";

  /** Class, message and the cause's own line, whatever the exception's own code does. */
  public static ErrorInfo of(Throwable t) {
    Throwable cause = Causes.cause(t);
    return new ErrorInfo(word(t), message(t), cause == null ? null : line(cause));
  }

  /** One line that says what it is. */
  public static String line(Throwable t) {
    if (t instanceof RunFailure || t instanceof FencepostException) {
      return word(t) + ": " + t.getMessage();
    }
    try {
      return String.valueOf(t.toString());
    } catch (Throwable broken) {
      return word(t) + ": " + UNAVAILABLE;
    }
  }

  private static @Nullable String message(Throwable t) {
    try {
      return t.getMessage();
    } catch (Throwable broken) {
      return UNAVAILABLE;
    }
  }

  private static String word(Throwable t) {
    if (t instanceof RunFailure failure) {
      return failure.word();
    }
    return t instanceof FencepostException ours ? ours.kind().wire() : t.getClass().getName();
  }
}
