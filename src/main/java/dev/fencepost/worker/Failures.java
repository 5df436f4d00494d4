package dev.fencepost.worker;

import dev.fencepost.model.Causes;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.DatabaseException;
import org.jspecify.annotations.Nullable;

/** Tells an outage, which costs nobody anything, from a refusal of what was asked. */
final class Failures {
  private Failures() {}

  /** Nothing can be stored now, or nothing is known of what was asked: the same again, later. */
  static boolean outage(Throwable t) {
    return t instanceof FencepostException f && outageKind(f.kind());
  }

  private static boolean outageKind(FailureKind kind) {
    return switch (kind) {
      case DATABASE_UNREACHABLE,
          DATABASE_READ_ONLY,
          DATABASE_AUTHENTICATION,
          DATABASE_RIGHTS,
          SCHEMA_MISSING,
          TIMEOUT ->
          true;
      default -> false;
    };
  }

  static boolean conflict(Throwable t) {
    return FencepostException.is(t, FailureKind.DATABASE_CONFLICT);
  }

  /** The same for a statement that a handler ran itself, so that no adapter has translated it. */
  static boolean connectionLost(Throwable t) {
    for (Throwable at : Causes.of(t)) {
      if (at instanceof ClosedConnectionException || outage(at)) {
        return true;
      }
      String state = at instanceof DatabaseException d ? d.getSqlState() : null;
      if (state != null && (state.startsWith("08") || state.startsWith("57P"))) {
        return true;
      }
    }
    return false;
  }

  /** The statement failed only because an earlier one of the transaction had. */
  static boolean inFailedTransaction(Throwable t) {
    return "25P02".equals(sqlState(t));
  }

  /** The SQLSTATE of the first database error in the chain of causes, or null. */
  static @Nullable String sqlState(Throwable t) {
    for (Throwable at : Causes.of(t)) {
      if (at instanceof DatabaseException d) {
        return d.getSqlState();
      }
    }
    return null;
  }
}
