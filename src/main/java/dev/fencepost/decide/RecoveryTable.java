package dev.fencepost.decide;

import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import org.jspecify.annotations.Nullable;

/**
 * What to do with an activity whose run nobody has reported (spec/recovery-table.csv). Asked on a
 * redelivery of a running activity and by the sweep over expired leases alike.
 */
public final class RecoveryTable {
  private RecoveryTable() {}

  /**
   * Decides by evidence alone.
   *
   * @param leaseExpired by the database's clock: {@code until <= now()}
   * @param receipt the receipt that counts for this generation, or null when there is none
   * @param retrySafe whether repeating the run is safe: by its kind, or because a probe that may be
   *     believed said that it never happened ({@link LeaseRules#mayBelieveNeverHappened})
   * @param attempts starts so far in this generation
   * @param maxAttempts starts allowed; at or above it nothing is started
   */
  public static RecoveryDecision decide(
      boolean leaseExpired,
      @Nullable ReceiptOutcome receipt,
      boolean retrySafe,
      int attempts,
      int maxAttempts) {
    if (!leaseExpired) {
      return RecoveryDecision.WAIT;
    }
    if (receipt != null) {
      return switch (receipt) {
        case SUCCEEDED -> RecoveryDecision.RECORD_COMPLETION;
        case FAILED_PERMANENT -> RecoveryDecision.RECORD_FAILURE;
      };
    }
    if (!retrySafe) {
      return RecoveryDecision.MANUAL_REVIEW;
    }
    return attempts >= maxAttempts
        ? RecoveryDecision.EXHAUSTED
        : RecoveryDecision.RETRY_SAME_ACTIVITY;
  }
}
