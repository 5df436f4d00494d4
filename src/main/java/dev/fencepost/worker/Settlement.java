package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a start ended. Applied only while owner and fence are the ticket's.
 *
 * @param envelope stored where the row must be able to run again or be read by a person and lacks
 *     it; null only for {@link Completed} and where the row has its body already
 */
public record Settlement(Claim.Ticket ticket, How how, Delivery.@Nullable Envelope envelope) {

  /** The closed set. */
  public sealed interface How {}

  /**
   * The receipt and the state, in one statement. A failed_permanent receipt makes a dead letter.
   */
  public record Completed(Receipt receipt) implements How {}

  /**
   * Runs again after {@code delay}, by the database's clock; uses up a retry only when {@code
   * countsRetry}. The next start uses up an attempt in any case.
   */
  public record RunAgain(
      AttemptOutcome outcome, Duration delay, boolean countsRetry, @Nullable ErrorInfo error)
      implements How {}

  /** A graceful shutdown: due now, and the start is not counted. */
  public record Interrupted() implements How {}

  /**
   * The handler's remote is known to be away, nothing was called: due after {@code delay}, and
   * neither the start nor a retry is counted.
   */
  public record Postponed(Duration delay, ErrorInfo error) implements How {}

  /** One dead letter of this generation, in the same statement. */
  public record Dead(DeadLetterReason reason, AttemptOutcome outcome, ErrorInfo error)
      implements How {}

  /** To an operator. */
  public record Review(AttemptOutcome outcome, ErrorInfo error) implements How {}

  /**
   * Nobody knows, and only a probe can tell: stays running with its fence raised and its lease
   * ended, so that the sweep decides; the attempt ends with {@code outcome}.
   *
   * @param quiet for so long the remote asked to be left alone: the lease ends after it
   */
  public record Undecided(AttemptOutcome outcome, ErrorInfo error, Duration quiet) implements How {}
}
