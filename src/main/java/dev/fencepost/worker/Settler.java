package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes how starts ended, grouped; only when that is durable the job ends and its delivery is
 * acknowledged. What is refused because the lease was lost changes nothing and is not tried again.
 */
final class Settler {
  private static final Logger LOG = LoggerFactory.getLogger(Settler.class);
  private static final int GROUP = 1_000;

  private record Pending(Job job, Settlement settlement) {}

  private final WorkerEnv env;
  private final Grouper<Pending, Boolean> group;
  private Retries retries = (loop, delay) -> {};

  /** Is told of every retry that was scheduled. */
  interface Retries {
    void scheduled(QueueLoop loop, Duration delay);
  }

  Settler(WorkerEnv env) {
    this.env = env;
    this.group =
        new Grouper<>(
            "settle",
            GROUP,
            env.timers(),
            this::send,
            new Grouper.Answers<>() {
              @Override
              public void answered(Pending item, Boolean ours, long sentNanos) {
                settled(item.job(), item.settlement().how(), ours);
              }

              @Override
              public void refused(Pending item, Throwable cause) {
                settleOtherwise(item, cause);
              }
            },
            env.admission()::database);
  }

  void onRetry(Retries told) {
    retries = told;
  }

  /** Settlements that are not durable yet. */
  int pending() {
    return group.size();
  }

  void settle(Job job, Settlement.How how) {
    job.settling = true;
    group.add(new Pending(job, new Settlement(job.ticket(), how, body(job, how))));
  }

  private static Delivery.@Nullable Envelope body(Job job, Settlement.How how) {
    boolean plain =
        how instanceof Settlement.Completed done
            && done.receipt().outcome() == ReceiptOutcome.SUCCEEDED;
    return plain || job.delivery == null ? null : job.envelope;
  }

  private Future<List<Boolean>> send(List<Pending> pending) {
    List<Settlement> settlements = new ArrayList<>(pending.size());
    for (Pending each : pending) {
      settlements.add(each.settlement());
    }
    return env.store().settle(env.owner(), settlements);
  }

  /**
   * Recording an outcome must not fail on its content: a receipt's body is what can be left out.
   */
  private void settleOtherwise(Pending item, Throwable cause) {
    if (item.settlement().how() instanceof Settlement.Completed done
        && done.receipt().body() != null) {
      settle(item.job(), new Settlement.Completed(new Receipt(done.receipt().outcome(), null)));
    } else if (item.settlement().how() instanceof Settlement.Review) {
      notStored(item.job());
    } else {
      settle(item.job(), new Settlement.Review(AttemptOutcome.UNKNOWN, ErrorInfo.of(cause)));
    }
  }

  /** Its lease will expire; until then its slot is for others and its message asks again. */
  private void notStored(Job job) {
    LOG.error("the outcome of {} cannot be stored; its lease will expire", job.id);
    env.active().notStored(job.id, job.ticket().fence());
    job.lane.release(job);
    job.lane.loop().endLost(job);
  }

  private void settled(Job job, Settlement.How how, boolean ours) {
    if (ours) {
      committed(job, how);
    } else {
      leaseLost(job);
    }
  }

  /** The outcome is durable: the job ends. */
  void committed(Job job, Settlement.How how) {
    job.lane.release(job);
    report(job, how);
    job.lane.loop().end(job);
  }

  /** Somebody has taken over: nothing of the activity is changed from here. */
  void leaseLost(Job job) {
    job.lane.release(job);
    WorkerLog.leaseLost(job, job.ticket());
    env.events().leaseLost(job.lane.queueName(), job.lane.type());
    outcome(job, WorkerEvents.Outcome.LEASE_LOST);
    job.lane.loop().endLost(job);
  }

  private void report(Job job, Settlement.How how) {
    if (how instanceof Settlement.Completed done) {
      completed(job, done.receipt());
    } else if (how instanceof Settlement.RunAgain again) {
      again(job, again);
      outcome(job, WorkerEvents.Outcome.RETRY_SCHEDULED);
      retries.scheduled(job.lane.loop(), again.delay());
    } else if (how instanceof Settlement.Interrupted) {
      retries.scheduled(job.lane.loop(), Duration.ZERO);
    } else if (how instanceof Settlement.Postponed postponed) {
      retries.scheduled(job.lane.loop(), postponed.delay());
    } else if (how instanceof Settlement.Dead dead) {
      dead(job, dead.reason(), dead.error());
    } else if (how instanceof Settlement.Review review) {
      WorkerLog.unknown(job, job.ticket(), "manual_review", review.error());
      outcome(job, WorkerEvents.Outcome.MANUAL_REVIEW);
    } else if (how instanceof Settlement.Undecided undecided) { // the sweep's is the outcome
      WorkerLog.unknown(job, job.ticket(), "probe", undecided.error());
    }
  }

  /** Only a failure is retried; a run of which nothing is known is repeated as the table says. */
  private void again(Job job, Settlement.RunAgain how) {
    if (how.countsRetry()) {
      WorkerLog.retry(job, job.ticket(), how);
      env.events().retried(job.lane.queueName(), job.lane.type());
    } else {
      String next = RecoveryDecision.RETRY_SAME_ACTIVITY.wire();
      String in = " in=" + WorkerLog.text(how.delay());
      WorkerLog.unknown(job, job.ticket(), next + in, how.error());
    }
  }

  private void completed(Job job, Receipt receipt) {
    if (receipt.outcome() == ReceiptOutcome.SUCCEEDED) {
      outcome(job, WorkerEvents.Outcome.DISPATCHED);
    } else {
      dead(
          job,
          DeadLetterReason.PERMANENT_FAILURE,
          new ErrorInfo("failed_permanent", receipt.body(), null));
    }
  }

  private void dead(Job job, DeadLetterReason reason, ErrorInfo error) {
    job.lane
        .loop()
        .deadLettered(
            new DeadLettered(job.id, job.lane.type(), reason, job.ticket().attempt(), error));
  }

  private void outcome(Job job, WorkerEvents.Outcome outcome) {
    env.events().settled(job.lane.queueName(), job.lane.type(), outcome);
  }
}
