package dev.fencepost.pg;

import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.worker.Settlement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a settlement changes in its row. */
final class SettlementChanges {
  private SettlementChanges() {}

  static Change of(Settlement settlement) {
    Settlement.How how = settlement.how();
    AttemptOutcome outcome = outcome(how);
    boolean mayGoOn = outcome == AttemptOutcome.TIMED_OUT || outcome == AttemptOutcome.UNKNOWN;
    return new Change(
        ClaimGroups.storable(settlement.ticket().id()),
        settlement.ticket().fence(),
        aim(how),
        new Change.Ended(outcome, error(how), mayGoOn, false, false),
        note(how),
        settlement.envelope());
  }

  /** What the next look at the database must not miss. */
  static void announce(Settlement.How how, Pulse pulse) {
    if (how instanceof Settlement.Undecided) {
      pulse.unsettled();
    } else if (!(how instanceof Settlement.Completed)) {
      Change.Aim aim = aim(how);
      if (aim.state() == ActivityState.RETRY_SCHEDULED) {
        pulse.scheduled(aim.delay());
      }
    }
  }

  /** Whether it asks for a dead letter. */
  static boolean dies(Settlement.How how) {
    return aim(how).state() == ActivityState.DEAD;
  }

  private static Change.Aim aim(Settlement.How how) {
    if (how instanceof Settlement.Completed done) {
      return done.receipt().outcome() == ReceiptOutcome.SUCCEEDED
          ? Change.Aim.completed(done.receipt())
          : new Change.Aim(
              ActivityState.DEAD,
              Duration.ZERO,
              0,
              0,
              DeadLetterReason.PERMANENT_FAILURE,
              done.receipt());
    }
    if (how instanceof Settlement.RunAgain again) {
      return Change.Aim.again(again.delay(), again.countsRetry() ? 1 : 0, 0);
    }
    if (how instanceof Settlement.Interrupted) {
      return Change.Aim.again(Duration.ZERO, 0, 1);
    }
    if (how instanceof Settlement.Postponed postponed) {
      return Change.Aim.again(postponed.delay(), 0, 1);
    }
    if (how instanceof Settlement.Dead dead) {
      return Change.Aim.dead(dead.reason());
    }
    return how instanceof Settlement.Undecided undecided
        ? new Change.Aim(ActivityState.RUNNING, undecided.quiet(), 0, 0, null, null)
        : Change.Aim.of(ActivityState.MANUAL_REVIEW);
  }

  /** How the start ended. */
  static AttemptOutcome outcome(Settlement.How how) {
    if (how instanceof Settlement.Completed done) {
      return done.receipt().outcome() == ReceiptOutcome.SUCCEEDED
          ? AttemptOutcome.SUCCEEDED
          : AttemptOutcome.PERMANENT_FAILURE;
    }
    if (how instanceof Settlement.RunAgain again) {
      return again.outcome();
    }
    if (how instanceof Settlement.Dead dead) {
      return dead.outcome();
    }
    if (how instanceof Settlement.Review review) {
      return review.outcome();
    }
    return how instanceof Settlement.Undecided undecided
        ? undecided.outcome()
        : AttemptOutcome.INTERRUPTED;
  }

  private static @Nullable ErrorInfo error(Settlement.How how) {
    if (how instanceof Settlement.RunAgain again) {
      return again.error();
    }
    if (how instanceof Settlement.Postponed postponed) {
      return postponed.error();
    }
    if (how instanceof Settlement.Dead dead) {
      return dead.error();
    }
    if (how instanceof Settlement.Review review) {
      return review.error();
    }
    return how instanceof Settlement.Undecided undecided ? undecided.error() : null;
  }

  /** A late result, in words. */
  static String evidence(Settlement.How how) {
    return how instanceof Settlement.Completed done
        ? Settlements.evidence(done.receipt(), null)
        : Settlements.evidence(null, error(how));
  }

  private static Change.@Nullable Note note(Settlement.How how) {
    return how instanceof Settlement.Review review
        ? new Change.Note(
            "manual_review",
            "outcome=" + review.outcome().wire(),
            Settlements.evidence(null, review.error()))
        : null;
  }
}
