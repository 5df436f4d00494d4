package dev.fencepost.worker;

import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import dev.fencepost.api.TransientFailure;
import dev.fencepost.decide.FailureClasses;
import dev.fencepost.decide.RecoveryTable;
import dev.fencepost.decide.RetryPolicy;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.Causes;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FailureClass;
import dev.fencepost.model.NotStarted;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** From how a run ended to how its activity is settled; no state, no I/O. */
final class Outcomes {
  private Outcomes() {}

  /** A handler that returned null, or a future with null inside. */
  static final class NullReceipt extends RunFailure {
    private static final long serialVersionUID = 1L;

    NullReceipt() {
      super(
          RunEvent.HANDLER_RETURNED_NULL,
          "the handler returned null instead of a receipt",
          null,
          null);
    }
  }

  /** The hard limit passed. */
  static final class HardLimit extends RunFailure {
    private static final long serialVersionUID = 1L;

    HardLimit(Duration limit) {
      super(
          RunEvent.NO_ANSWER_BY_HARD_LIMIT,
          "no answer by the hard limit of " + WorkerLog.text(limit),
          null,
          null);
    }
  }

  /**
   * How a run that failed is settled.
   *
   * @param recorded the receipt that was durable before; it stands, whatever came after
   * @param random uniform in [0, 1), for jitter
   */
  static Settlement.How failed(
      TypeLane lane,
      Claim.Ticket ticket,
      @Nullable Receipt recorded,
      Throwable failure,
      double random) {
    if (recorded != null) {
      return new Settlement.Completed(recorded);
    }
    Throwable error = Causes.unwrapped(failure);
    try {
      return failed(lane, ticket, error, random);
    } catch (Throwable fault) { // it is code of others that says what it is
      return unknown(lane, ticket, error, random);
    }
  }

  private static Settlement.How failed(
      TypeLane lane, Claim.Ticket ticket, Throwable error, double random) {
    if (error instanceof NotStarted away) {
      Duration asked = away.retryAfter();
      return new Settlement.Postponed(
          asked == null ? lane.retryLimits().baseDelay() : asked, ErrorInfo.of(away));
    }
    FailureClass means = FailureClasses.classify(lane.kind(), event(lane.kind(), error));
    return switch (means) {
      case TRANSIENT -> again(lane, ticket, error, random);
      case PERMANENT, POISON ->
          new Settlement.Dead(
              DeadLetterReason.PERMANENT_FAILURE,
              AttemptOutcome.PERMANENT_FAILURE,
              ErrorInfo.of(error));
      case UNKNOWN -> unknown(lane, ticket, error, random);
      case INTERRUPTED -> new Settlement.Interrupted();
    };
  }

  private static Settlement.How again(
      TypeLane lane, Claim.Ticket ticket, Throwable error, double random) {
    AttemptOutcome outcome =
        timedOut(error) ? AttemptOutcome.TIMED_OUT : AttemptOutcome.TRANSIENT_FAILURE;
    ErrorInfo info = ErrorInfo.of(error);
    if (ticket.attempt() >= ticket.work().maxAttempts()) {
      return new Settlement.Dead(DeadLetterReason.RETRIES_EXHAUSTED, outcome, info);
    }
    RetryPolicy.Verdict verdict =
        RetryPolicy.decide(
            FailureClass.TRANSIENT, ticket.retries(), lane.retryLimits(), asked(error), random);
    return verdict instanceof RetryPolicy.Verdict.Retry retry
        ? new Settlement.RunAgain(outcome, retry.delay(), true, info)
        : new Settlement.Dead(DeadLetterReason.RETRIES_EXHAUSTED, outcome, info);
  }

  /**
   * Nobody can know: the recovery table decides, as for a lease that has expired. A repetition uses
   * up no retry, but waits for the backoff, since timeouts are how overload looks.
   */
  private static Settlement.How unknown(
      TypeLane lane, Claim.Ticket ticket, Throwable error, double random) {
    AttemptOutcome outcome = timedOut(error) ? AttemptOutcome.TIMED_OUT : AttemptOutcome.UNKNOWN;
    ErrorInfo info = ErrorInfo.of(error);
    if (lane.kind() == ActivityKind.QUERYABLE) {
      return new Settlement.Undecided(outcome, info, quiet(lane, error)); // only its probe can tell
    }
    RecoveryDecision decision =
        RecoveryTable.decide(
            true, null, retrySafe(lane.kind()), ticket.attempt(), ticket.work().maxAttempts());
    return switch (decision) {
      case RETRY_SAME_ACTIVITY ->
          new Settlement.RunAgain(outcome, backoff(lane, ticket, random), false, info);
      case EXHAUSTED -> new Settlement.Dead(DeadLetterReason.RETRIES_EXHAUSTED, outcome, info);
      default -> new Settlement.Review(outcome, info);
    };
  }

  /** How a run that the shutdown's deadline found open is settled. */
  static Settlement.How orphaned(TypeLane lane, Claim.Ticket ticket, @Nullable Receipt recorded) {
    if (recorded != null) {
      return new Settlement.Completed(recorded);
    }
    FailureClass failure = FailureClasses.classify(lane.kind(), RunEvent.SHUTDOWN_AFTER_START);
    return failure == FailureClass.INTERRUPTED
        ? new Settlement.Interrupted()
        : unknown(lane, ticket, shutDown(), 0);
  }

  private static RunFailure shutDown() {
    return new RunFailure(RunEvent.SHUTDOWN_AFTER_START, "shut down while it ran", null, null);
  }

  private static Duration backoff(TypeLane lane, Claim.Ticket ticket, double random) {
    return RetryPolicy.delay(ticket.attempt() - 1, lane.retryLimits(), random);
  }

  /** By its kind alone; {@code queryable} needs a probe first. */
  static boolean retrySafe(ActivityKind kind) {
    return switch (kind) {
      case PURE, IDEMPOTENT, EFFECT -> true;
      case QUERYABLE, IRREVERSIBLE -> false;
    };
  }

  /** The wait it asks for; null where it asks for none, or fails when asked. */
  private static @Nullable Duration asked(Throwable error) {
    if (error instanceof TransientFailure t) {
      return after(t);
    }
    return error instanceof RunFailure f ? f.retryAfter() : null;
  }

  /** The handler's own code, which says that it may work later even where it cannot say when. */
  private static @Nullable Duration after(TransientFailure failure) {
    try {
      Optional<Duration> after = failure.after();
      return after == null ? null : after.orElse(null);
    } catch (Throwable fault) {
      return null;
    }
  }

  private static Duration quiet(TypeLane lane, Throwable error) {
    Duration asked = asked(error);
    return asked == null
        ? Duration.ZERO
        : RetryPolicy.bounded(asked, lane.retryLimits().maxDelay());
  }

  /** Whether it says that the hard limit passed: by our clock, or by the handler's own. */
  static boolean timedOut(@Nullable Throwable error) {
    return error instanceof RunFailure failure
        && failure.event() == RunEvent.NO_ANSWER_BY_HARD_LIMIT;
  }

  private static RunEvent event(ActivityKind kind, Throwable error) {
    if (error instanceof RunFailure failure) {
      return failure.event();
    }
    if (error instanceof TransientFailure) {
      return RunEvent.HANDLER_TRANSIENT_FAILURE;
    }
    if (error instanceof PermanentFailure) {
      return RunEvent.HANDLER_PERMANENT_FAILURE;
    }
    String state = kind == ActivityKind.EFFECT ? Failures.sqlState(error) : null;
    return state == null ? RunEvent.HANDLER_OTHER_EXCEPTION : FailureClasses.ofSqlState(state);
  }
}
