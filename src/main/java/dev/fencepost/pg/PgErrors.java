package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.VertxException;
import io.vertx.core.impl.NoStackTraceThrowable;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.TransactionRollbackException;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/** Translates what the database and its clients throw, once, by SQLSTATE; never by text. */
public final class PgErrors {

  private static final Set<String> MISSING_SCHEMA = Set.of("3F000", "42P01");
  private static final Set<String> AUTHENTICATION = Set.of("28000", "28P01", "3D000");
  private static final Set<String> CONFLICT = Set.of("40001", "40P01", "40002", "55P03");

  /** The server ends or refuses connections for a while: start, stop, too many of them. */
  private static final Set<String> AWAY =
      Set.of("57P01", "57P02", "57P03", "57P04", "57P05", "53300", "25P03", "25P04");

  /** A prepared statement that is not there, or is there already and may be another's. */
  private static final Set<String> NOT_OF_THIS_SESSION = Set.of("26000", "42P05");

  private static final String FEATURE_NOT_SUPPORTED = "0A000";

  private PgErrors() {}

  /** The failure with its kind; one that is translated already comes back as it is. */
  public static FencepostException translate(Throwable failure) {
    return translate(failure, null);
  }

  /**
   * @param where the server, to be named when it could not be reached
   */
  static FencepostException translate(Throwable failure, @Nullable String where) {
    if (failure instanceof FencepostException known) {
      return known;
    }
    String state = sqlState(failure);
    if (state != null) {
      return ofState(state, failure, where);
    }
    if (failure instanceof TransactionRollbackException) {
      return new FencepostException(
          FailureKind.DATABASE_REFUSED,
          "the transaction was rolled back: a statement in it had failed",
          failure);
    }
    if (failure instanceof TimeoutException) {
      return new FencepostException(
          FailureKind.TIMEOUT, "no answer from the database in time", failure);
    }
    if (ofClient(failure)) {
      return unreachable(failure, message(failure), where);
    }
    return new FencepostException(FailureKind.INTERNAL, String.valueOf(failure), failure);
  }

  /** Whether the database or its client failed, rather than code that ran between statements. */
  static boolean isDatabase(Throwable failure) {
    return sqlState(failure) != null
        || failure instanceof TransactionRollbackException
        || failure instanceof TimeoutException
        || ofClient(failure);
  }

  /** The SQLSTATE in this failure or its causes, or null when there is none. */
  public static @Nullable String sqlState(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof PgException pg) {
        return pg.getSqlState();
      }
      if (t instanceof SQLException sql && sql.getSQLState() != null) {
        return sql.getSQLState();
      }
    }
    return null;
  }

  /**
   * Whether a pooler refuses settings of the session. It gives the same SQLSTATE to whatever keeps
   * it from connecting, so that for once the text has to be looked at.
   */
  static boolean refusesSettings(Throwable failure) {
    return "08P01".equals(sqlState(failure)) && message(failure).contains("startup parameter");
  }

  /** Whether the tables have changed since the session planned the statement. */
  static boolean outdatedPlan(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof PgException pg) {
        return FEATURE_NOT_SUPPORTED.equals(pg.getSqlState())
            && "RevalidateCachedQuery".equals(pg.getRoutine());
      }
    }
    return false;
  }

  private static FencepostException ofState(
      String state, Throwable failure, @Nullable String where) {
    FailureKind kind = outdatedPlan(failure) ? FailureKind.DATABASE_CONFLICT : kind(state);
    String text = message(failure);
    if (NOT_OF_THIS_SESSION.contains(state)) {
      text += ", as behind a pooler: " + DatabaseUri.POOLER;
    }
    return switch (kind) {
      case DATABASE_UNREACHABLE ->
          exhausted(state)
              ? new FencepostException(
                  kind,
                  "the database cannot do its work now: " + text + " (SQLSTATE " + state + ")",
                  failure)
              : unreachable(failure, text, where);
      case SCHEMA_MISSING ->
          new FencepostException(
              kind, text + ": run `fencepost migrate -c FILE` to create the schema", failure);
      case DATABASE_AUTHENTICATION ->
          new FencepostException(kind, "the database refuses to log in: " + text, failure);
      case DATABASE_READ_ONLY ->
          new FencepostException(
              kind, "the database is read-only (a replica, or a failover): " + text, failure);
      default -> new FencepostException(kind, text + " (SQLSTATE " + state + ")", failure);
    };
  }

  static FailureKind kind(String state) {
    if (MISSING_SCHEMA.contains(state)) {
      return FailureKind.SCHEMA_MISSING;
    }
    if (AUTHENTICATION.contains(state)) {
      return FailureKind.DATABASE_AUTHENTICATION;
    }
    if (CONFLICT.contains(state)) {
      return FailureKind.DATABASE_CONFLICT;
    }
    if (AWAY.contains(state)
        || NOT_OF_THIS_SESSION.contains(state)
        || state.startsWith("08")
        || exhausted(state)) {
      return FailureKind.DATABASE_UNREACHABLE;
    }
    return switch (state) {
      case "25006" -> FailureKind.DATABASE_READ_ONLY;
      case "42501" -> FailureKind.DATABASE_RIGHTS;
      case "57014" -> FailureKind.TIMEOUT;
      default -> FailureKind.DATABASE_REFUSED;
    };
  }

  /**
   * Out of disk, memory or another resource, or its file system fails: nothing that the statement
   * or its data could help.
   */
  private static boolean exhausted(String state) {
    return state.startsWith("58") || (state.startsWith("53") && !AWAY.contains(state));
  }

  private static FencepostException unreachable(
      Throwable failure, String text, @Nullable String where) {
    return new FencepostException(
        FailureKind.DATABASE_UNREACHABLE,
        "cannot reach the database" + (where == null ? "" : " at " + where) + ": " + text,
        failure);
  }

  @SuppressWarnings("removal") // the client of this version still fails with it
  private static boolean ofClient(Throwable failure) {
    return failure instanceof IOException
        || failure instanceof VertxException
        || failure instanceof NoStackTraceThrowable;
  }

  /** The server's own sentence where it sent one, else the network's; in one line. */
  private static String message(Throwable failure) {
    String text = failure.getMessage();
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof PgException pg) {
        text = pg.getErrorMessage();
      } else if (t instanceof PSQLException sql && sql.getServerErrorMessage() != null) {
        text = sql.getServerErrorMessage().getMessage();
      } else if (t instanceof SQLException || t instanceof IOException) {
        text = t.getMessage();
      }
    }
    return text == null ? failure.getClass().getSimpleName() : text.lines().findFirst().orElse("");
  }
}
