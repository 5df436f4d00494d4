package dev.fencepost.cli;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;

/** What a command's end says to scripts. */
final class ExitCode {

  static final int DONE = 0;

  /** It failed, or a bulk request failed for some items. */
  static final int FAILED = 1;

  /** Usage, configuration, missing rights or a wrong password: a person has to change something. */
  static final int REFUSED = 2;

  /** Database or broker out of reach: it may work later as it is. */
  static final int OUT_OF_REACH = 3;

  private ExitCode() {}

  static int of(Throwable failure) {
    return failure instanceof FencepostException known ? of(known.kind()) : FAILED;
  }

  static int of(FailureKind kind) {
    return switch (kind) {
      case CONFIGURATION,
          INVALID_INPUT,
          DATABASE_AUTHENTICATION,
          DATABASE_RIGHTS,
          SCHEMA_MISSING,
          SCHEMA_MISMATCH,
          BROKER_AUTHENTICATION,
          BROKER_ACCESS_REFUSED,
          BROKER_PRECONDITION ->
          REFUSED;
      case DATABASE_UNREACHABLE,
          DATABASE_READ_ONLY,
          BROKER_UNREACHABLE,
          BROKER_BLOCKED,
          CHANNEL_CLOSED,
          TIMEOUT ->
          OUT_OF_REACH;
      case DATABASE_CONFLICT,
          DATABASE_REFUSED,
          BROKER_NOT_FOUND,
          LEASE_LOST,
          NOT_FOUND,
          STALE,
          INTERNAL ->
          FAILED;
    };
  }
}
