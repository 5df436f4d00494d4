package dev.fencepost.model;

import org.jspecify.annotations.Nullable;

/** The one exception family: a kind that code decides on, and a line that a person can act on. */
@SuppressWarnings("OverrideThrowableToString") // commands and answers show the message alone
public class FencepostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailureKind kind;

  public FencepostException(FailureKind kind, String message) {
    this(kind, message, null);
  }

  public FencepostException(FailureKind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public FailureKind kind() {
    return kind;
  }

  /** As it stands in log lines: the name of the class would say nothing. */
  @Override
  public String toString() {
    return kind.wire() + ": " + getMessage();
  }

  /** Whether {@code t} is of this family and kind. */
  public static boolean is(@Nullable Throwable t, FailureKind kind) {
    return t instanceof FencepostException f && f.kind == kind;
  }
}
