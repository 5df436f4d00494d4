package dev.fencepost.decide;

import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureClass;
import dev.fencepost.model.RunEvent;
import java.util.Set;

/**
 * What an event of a run says about the activity, by its kind (spec/failure-classes.csv). The rule
 * behind the table: what may have happened is not transient where a repetition is unsafe.
 */
public final class FailureClasses {
  private static final Set<String> TRANSIENT_SQL = Set.of("08", "40", "53", "55", "57");

  private FailureClasses() {}

  /**
   * The class of an event.
   *
   * @throws IllegalArgumentException when such an event cannot come from this kind: an {@code
   *     effect} runs inside the database and calls nothing over HTTP
   */
  public static FailureClass classify(ActivityKind kind, RunEvent event) {
    boolean repeatable = kind == ActivityKind.PURE || kind == ActivityKind.IDEMPOTENT;
    boolean effect = kind == ActivityKind.EFFECT;
    return switch (event) {
      // Refused before the remote could act.
      case CONNECTION_REFUSED, NAME_NOT_RESOLVED, TLS_HANDSHAKE_FAILED, HTTP_425, HTTP_429 ->
          remote(kind, event, FailureClass.TRANSIENT);
      case HTTP_408, HTTP_500, HTTP_502, HTTP_503, HTTP_504, CONNECTION_LOST_AFTER_SEND ->
          remote(kind, event, repeatable ? FailureClass.TRANSIENT : FailureClass.UNKNOWN);
      case HTTP_400, HTTP_404, HTTP_409, HTTP_422 -> remote(kind, event, FailureClass.PERMANENT);
      // An effect's statement is cancelled and rolled back: nothing is unknown about it.
      case NO_ANSWER_BY_HARD_LIMIT -> effect ? FailureClass.TRANSIENT : FailureClass.UNKNOWN;
      case HANDLER_TRANSIENT_FAILURE -> FailureClass.TRANSIENT;
      case HANDLER_PERMANENT_FAILURE -> FailureClass.PERMANENT;
      case HANDLER_OTHER_EXCEPTION, HANDLER_RETURNED_NULL ->
          repeatable || effect ? FailureClass.PERMANENT : FailureClass.UNKNOWN;
      case SHUTDOWN_BEFORE_START -> FailureClass.INTERRUPTED;
      case SHUTDOWN_AFTER_START ->
          repeatable || effect ? FailureClass.INTERRUPTED : FailureClass.UNKNOWN;
      case MESSAGE_UNREADABLE -> FailureClass.POISON;
    };
  }

  private static FailureClass remote(ActivityKind kind, RunEvent event, FailureClass failure) {
    if (kind == ActivityKind.EFFECT) {
      throw new IllegalArgumentException(
          "an effect runs in the database and cannot end in " + event.wire());
    }
    return failure;
  }

  /**
   * The event of an HTTP answer that is not 2xx. Statuses that the table does not name count as its
   * nearest: another 5xx as 500; any other, redirects that are not followed included, as 400.
   */
  public static RunEvent ofHttpStatus(int status) {
    return switch (status) {
      case 404 -> RunEvent.HTTP_404;
      case 408 -> RunEvent.HTTP_408;
      case 409 -> RunEvent.HTTP_409;
      case 422 -> RunEvent.HTTP_422;
      case 425 -> RunEvent.HTTP_425;
      case 429 -> RunEvent.HTTP_429;
      case 502 -> RunEvent.HTTP_502;
      case 503 -> RunEvent.HTTP_503;
      case 504 -> RunEvent.HTTP_504;
      default -> status >= 500 ? RunEvent.HTTP_500 : RunEvent.HTTP_400;
    };
  }

  /**
   * The event of a statement of an effect that the database refused: classes 08 (connection), 40
   * (rollback), 53 (resources), 55 (state) and 57 (operator) may pass, all others will not.
   */
  public static RunEvent ofSqlState(String sqlState) {
    return sqlState.length() == 5 && TRANSIENT_SQL.contains(sqlState.substring(0, 2))
        ? RunEvent.HANDLER_TRANSIENT_FAILURE
        : RunEvent.HANDLER_PERMANENT_FAILURE;
  }
}
