package dev.fencepost.model;

import org.jspecify.annotations.Nullable;

/**
 * A failure as it is stored and shown; made storable (NUL, lone surrogates, length) by the store.
 *
 * @param errorClass a stable word where the failure is one of ours, otherwise the name of the class
 *     that a user's handler failed with
 */
public record ErrorInfo(String errorClass, @Nullable String message, @Nullable String cause) {

  /** Class, message and the cause's own line. */
  public static ErrorInfo of(Throwable t) {
    return new ErrorInfo(word(t), t.getMessage(), line(t.getCause()));
  }

  private static String word(Throwable t) {
    if (t instanceof RunFailure failure) {
      return failure.word();
    }
    return t instanceof FencepostException ours ? ours.kind().wire() : t.getClass().getName();
  }

  private static @Nullable String line(@Nullable Throwable cause) {
    if (cause == null) {
      return null;
    }
    boolean ours = cause instanceof RunFailure || cause instanceof FencepostException;
    return ours ? word(cause) + ": " + cause.getMessage() : cause.toString();
  }
}
