package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ReceiptOutcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a running activity whose outcome nobody has reported: the input of the recovery
 * table.
 *
 * @param receipt the receipt's outcome, null when there is none
 * @param sinceStart since the last start, by database time
 * @param suspect whether a start of it ended with its process: it runs alone
 */
public record Evidence(
    ActivityId id,
    String type,
    ActivityKind kind,
    Holder holder,
    Counts counts,
    @Nullable ReceiptOutcome receipt,
    Duration sinceStart,
    boolean hasBody,
    boolean suspect,
    Lease lease) {

  /**
   * Who holds it, under which fence, and how far it said it had come.
   *
   * @param open whether the fence is that of a counted start whose end nobody has reported; not
   *     that of a probe, nor one that was raised when a run ended in the unknown
   */
  public record Holder(
      String owner, long fence, boolean open, @Nullable String phase, @Nullable Long progress) {}

  /**
   * When its lease ends or has ended.
   *
   * @param untilMicros position of the sweep's keyset, microseconds since the epoch
   * @param overdue since when it is over, by database time; negative while it is not
   */
  public record Lease(long untilMicros, Duration overdue) {}

  public record Counts(
      int attempts, int maxAttempts, int retries, int maxRetries, int generation) {}
}
