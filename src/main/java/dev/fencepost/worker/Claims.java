package dev.fencepost.worker;

import dev.fencepost.decide.LeaseRules;
import dev.fencepost.model.ErrorInfo;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Asks for the right to run, grouped, and does what the answer says. */
final class Claims {
  private static final int GROUP = 1_000;

  private final WorkerEnv env;
  private final Grouper<Job, Claim.Answer> group;
  private final Answered answered;

  /** Where a job goes by its answer; on the worker's context. */
  interface Answered {
    void started(Job job);

    /**
     * Ended or stored: the delivery is acknowledged.
     *
     * @param duplicate whether the event was known before; what is new is counted by the outcome of
     *     its start
     */
    void stored(Job job, boolean duplicate);

    void held(Job job, Duration remaining, Evidence evidence);

    void expired(Job job, Evidence evidence);

    /** The database refuses the row itself. */
    void refused(Job job, ErrorInfo error);
  }

  Claims(WorkerEnv env, Answered answered) {
    this.env = env;
    this.answered = answered;
    this.group =
        new Grouper<>(
            "claim",
            GROUP,
            env.timers(),
            this::send,
            new Grouper.Answers<>() {
              @Override
              public void answered(Job job, Claim.Answer answer, long sentNanos) {
                Claims.this.answered(job, answer, sentNanos);
              }

              @Override
              public void refused(Job job, Throwable cause) {
                answered.refused(job, ErrorInfo.of(cause));
              }
            },
            env.admission()::database);
  }

  void add(Job job) {
    group.add(job);
  }

  /** Claims that have not been answered. */
  int pending() {
    return group.size();
  }

  private Future<List<Claim.Answer>> send(List<Job> jobs) {
    List<Claim.Request> requests = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      requests.add(job.request());
    }
    return env.store().claim(env.owner(), requests);
  }

  /**
   * @param sentNanos the monotonic clock before the statement was sent: trust counts from there
   */
  void answered(Job job, Claim.Answer answer, long sentNanos) {
    job.answered();
    if (answer instanceof Claim.Started started) {
      start(job, started.ticket(), sentNanos, job.lane.work().leaseTtl());
    } else if (answer instanceof Claim.Held held) {
      held(job, held, sentNanos);
    } else if (answer instanceof Claim.Expired expired) {
      WorkerLog.delivery(job, expired.evidence().counts().retries());
      answered.expired(job, expired.evidence());
    } else if (answer instanceof Claim.Duplicate duplicate) {
      WorkerLog.delivery(job, duplicate.retries());
      answered.stored(job, true);
    } else if (answer instanceof Claim.Waiting waiting) {
      WorkerLog.delivery(job, waiting.retries());
      answered.stored(job, !(waiting.fresh() || job.storedFresh));
    }
  }

  private void start(Job job, Claim.Ticket ticket, long sentNanos, Duration left) {
    Duration margin = LeaseRules.margin(ticket.work().leaseTtl());
    job.claimed(ticket, LeaseRules.trustUntil(sentNanos, left, margin));
    job.lane.hold(job);
    WorkerLog.delivery(job, ticket.retries());
    answered.started(job);
  }

  /**
   * Held by this very process, with no run of it here: the answer to an earlier claim was lost on
   * its way. Nothing has run under that fence, so it is taken up instead of waiting for its expiry.
   */
  private void held(Job job, Claim.Held held, long sentNanos) {
    Evidence evidence = held.evidence();
    Evidence.Holder holder = evidence.holder();
    boolean ours = holder.open() && holder.owner().equals(env.owner());
    boolean ran = env.active().unstored(job.id, holder.fence());
    boolean alone = evidence.suspect(); // as the sweep sees to
    if (ours && !ran && !alone && env.active().get(job.id) == job && !env.active().busy(job.id)) {
      start(job, lostTicket(job.lane, evidence), sentNanos, held.remaining());
    } else {
      WorkerLog.delivery(job, evidence.counts().retries());
      answered.held(job, held.remaining(), evidence);
    }
  }

  /** The ticket of a claim whose answer never came. */
  static Claim.Ticket lostTicket(TypeLane lane, Evidence evidence) {
    Evidence.Counts counts = evidence.counts();
    return new Claim.Ticket(
        evidence.id(),
        lane.work(),
        evidence.holder().fence(),
        counts.attempts(),
        counts.retries(),
        counts.generation(),
        counts.attempts() == 1,
        false);
  }
}
