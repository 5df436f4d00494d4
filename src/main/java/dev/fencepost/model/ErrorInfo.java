package dev.fencepost.model;

import org.jspecify.annotations.Nullable;

/**
 * A failure as it is stored and shown; made storable (NUL, lone surrogates, length) by the store.
 */
public record ErrorInfo(String errorClass, @Nullable String message, @Nullable String cause) {

  /** Class, message and the cause's own line. */
  public static ErrorInfo of(Throwable t) {
    Throwable cause = t.getCause();
    return new ErrorInfo(
        t.getClass().getName(), t.getMessage(), cause == null ? null : cause.toString());
  }
}
