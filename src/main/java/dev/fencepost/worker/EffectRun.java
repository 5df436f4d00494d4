package dev.fencepost.worker;

import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of effects: handlers are invoked one after another without waiting, so that their
 * statements are pipelined; when all have returned a receipt, it is committed. Otherwise it is
 * rolled back, and those who failed by themselves are told from those who only failed with them.
 */
final class EffectRun {
  private final EffectLane lane;
  private final List<Job> jobs;
  private final boolean single;
  private final long begunNanos;
  private final List<Member> members = new ArrayList<>();
  private ActivityStore.@Nullable EffectGroup group;
  private List<Claim.Answer> answers = List.of();
  private int awaited;
  private boolean over;

  /** One handler in the transaction. */
  private static final class Member {
    final Job job;
    final Run run;
    @Nullable Receipt receipt;
    @Nullable Throwable error;

    Member(Job job, Run run) {
      this.job = job;
      this.run = run;
    }

    boolean back() {
      return receipt != null || error != null;
    }

    /** What it recorded early stands, as for the other kinds. */
    Receipt outcome() {
      Receipt recorded = run.recorded();
      if (recorded != null) {
        return recorded;
      }
      return receipt == null ? Receipt.succeeded() : receipt;
    }
  }

  EffectRun(EffectLane lane, List<Job> jobs, boolean single) {
    this.lane = lane;
    this.jobs = jobs;
    this.single = single;
    this.begunNanos = lane.env().timers().nanos();
  }

  boolean single() {
    return single;
  }

  List<Job> jobs() {
    return jobs;
  }

  void begin() {
    Guarded.call(this::open)
        .onComplete(
            begun -> {
              if (begun.succeeded()) {
                begun(begun.result());
              } else {
                notBegun(begun.cause());
              }
            });
  }

  private Future<ActivityStore.EffectGroup> open() {
    WorkerEnv env = lane.env();
    Duration hard = lane.lane().hardLimit();
    if (!single) {
      return env.store().beginEffects(env.owner(), hard, requests());
    }
    Job job = jobs.get(0);
    Delivery.Envelope message = job.delivery == null ? null : job.envelope;
    return env.store().beginEffect(env.owner(), hard, job.ticket(), message);
  }

  private List<Claim.Request> requests() {
    List<Claim.Request> requests = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      requests.add(job.request());
    }
    return requests;
  }

  private void notBegun(Throwable cause) {
    lane.closed(this);
    if (Failures.outage(cause) || (single && Failures.conflict(cause))) {
      lane.later(this);
    } else if (single && FencepostException.is(cause, FailureKind.LEASE_LOST)) {
      lane.settler().leaseLost(jobs.get(0));
    } else if (single) {
      settleFailed(jobs.get(0), cause);
    } else if (jobs.size() > 1) {
      lane.split(jobs);
    } else {
      lane.failed(jobs, List.of()); // its claim says what is wrong with it
    }
  }

  private void begun(ActivityStore.EffectGroup transaction) {
    group = transaction;
    answers = transaction.answers();
    EffectHandler handler = ((BoundHandler.Effect) lane.lane().handler()).handler();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      if (answers.get(i) instanceof Claim.Started started) {
        job.claimed(started.ticket(), Long.MAX_VALUE); // the row lock is the fence
        members.add(new Member(job, lane.runner().begin(job, single)));
      }
    }
    awaited = members.size();
    for (Member member : members) {
      invoke(handler, member, transaction);
    }
    if (members.isEmpty()) {
      commit();
    }
  }

  private void invoke(EffectHandler handler, Member member, ActivityStore.EffectGroup transaction) {
    Future<Receipt> result =
        lane.runner().watched(member.job, () -> handler.run(member.run, transaction.connection()));
    result.onComplete(
        answer -> lane.runner().onContext(() -> returned(member, answer.result(), answer.cause())));
  }

  private void returned(Member member, @Nullable Receipt receipt, @Nullable Throwable error) {
    if (!member.run.returned()) {
      lane.runner().late(member.run, receipt, error);
      return;
    }
    lane.runner().count(member.run);
    member.receipt = receipt;
    member.error = receipt == null && error == null ? new Outcomes.NullReceipt() : error;
    awaited--;
    if (awaited == 0 && !over) {
      if (members.stream().allMatch(m -> m.error == null)) {
        commit();
      } else {
        rollback();
      }
    }
  }

  private void commit() {
    over = true;
    List<Receipt> receipts = new ArrayList<>(members.size());
    for (Member member : members) {
      receipts.add(member.outcome());
    }
    transaction()
        .commit(receipts)
        .onComplete(
            done -> {
              lane.closed(this);
              if (done.succeeded()) {
                committed();
              } else {
                notCommitted(done.cause());
              }
            });
  }

  private void committed() {
    lane.committed(jobs.size());
    for (int i = 0, at = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      if (answers.get(i) instanceof Claim.Started) {
        Member member = members.get(at++);
        if (!single) {
          lane.runner().countStart(job); // what was rolled back never started
        }
        lane.settler().committed(job, new Settlement.Completed(member.outcome()));
      } else {
        lane.claims().answered(job, answers.get(i), begunNanos);
      }
    }
  }

  private void notCommitted(Throwable cause) {
    if (Failures.connectionLost(cause)) {
      lane.later(this); // a row that was committed answers so
    } else if (single) {
      settleFailed(jobs.get(0), cause);
    } else {
      lane.failed(jobs, List.of()); // somebody hid a failed statement: each shows its own outcome
    }
  }

  private void rollback() {
    over = true;
    transaction().rollback().onComplete(done -> rolledBack());
  }

  private void rolledBack() {
    lane.closed(this);
    List<Job> culprits = new ArrayList<>(1);
    List<Job> neighbours = new ArrayList<>(jobs);
    boolean lost = false;
    for (Member member : members) {
      Throwable error = member.error;
      if (error != null && Failures.connectionLost(error)) {
        lost = true;
      } else if (error != null && !Failures.inFailedTransaction(error)) {
        culprits.add(member.job);
      }
    }
    if (lost) {
      lane.later(this); // an outage costs no attempt
    } else if (single) {
      Member only = members.get(0);
      Throwable error = only.error == null ? new Outcomes.NullReceipt() : only.error;
      settleFailed(only.job, error);
    } else {
      neighbours.removeAll(culprits);
      lane.failed(
          culprits.isEmpty() ? jobs : culprits, culprits.isEmpty() ? List.of() : neighbours);
    }
  }

  private void settleFailed(Job job, Throwable error) {
    Run run = job.run();
    lane.settler()
        .settle(
            job,
            Outcomes.failed(job.lane, job.ticket(), null, error, run == null ? 0 : Math.random()));
  }

  /** Looks at the limits; the hard one cancels the statement and rolls everything back. */
  void checkLimits(long now) {
    if (over || members.isEmpty()) {
      return;
    }
    long age = now - members.get(0).run.startedNanos();
    if (age > lane.lane().hardLimit().toNanos()) {
      hardLimit();
    } else if (age > lane.lane().softLimit().toNanos()) {
      for (Member member : members) {
        if (!member.back()) {
          lane.runner().softLimit(member.run);
        }
      }
    }
  }

  /** The first that has not come back held the others up; it is the one that is charged. */
  private void hardLimit() {
    over = true;
    Member culprit = null;
    for (Member member : members) {
      if (!member.back()) {
        culprit = culprit == null ? member : culprit;
        lane.runner().giveUp(member.run);
      }
    }
    if (culprit == null) {
      return;
    }
    Member slow = culprit;
    WorkerLog.hardLimit(slow.job, slow.run.ticket(), "transient");
    transaction().abandon().onComplete(done -> abandoned(slow.job));
  }

  /** The shutdown's deadline found it open: rolled back, as if it had never started. */
  void shutDown() {
    if (over || group == null) {
      return;
    }
    over = true;
    for (Member member : members) {
      if (!member.back()) {
        lane.runner().giveUp(member.run);
      }
    }
    transaction()
        .abandon()
        .onComplete(
            done -> {
              lane.closed(this);
              if (single) {
                lane.settler().settle(jobs.get(0), new Settlement.Interrupted());
              }
            });
  }

  private void abandoned(Job slow) {
    lane.closed(this);
    if (single) {
      settleFailed(slow, new Outcomes.HardLimit(lane.lane().hardLimit()));
    } else {
      List<Job> neighbours = new ArrayList<>(jobs);
      neighbours.remove(slow);
      lane.failed(List.of(slow), neighbours);
    }
  }

  private ActivityStore.EffectGroup transaction() {
    if (group == null) {
      throw new IllegalStateException("the transaction has not begun");
    }
    return group;
  }
}
