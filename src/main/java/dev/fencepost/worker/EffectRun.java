package dev.fencepost.worker;

import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of effects: handlers are invoked one after another without waiting, so that their
 * statements are pipelined; when all have returned a receipt, it is committed. Where failures are
 * about, it goes in parts with a savepoint before each: then only the part of the culprit is undone
 * and repeated without it. A part's handlers have all returned before the next savepoint, since one
 * of several statements must not come to stand behind it. Who failed by himself is told from those
 * who only failed with him by SQLSTATE 25P02.
 */
final class EffectRun {
  private final EffectLane lane;
  private final List<Job> jobs;
  private final boolean single;
  private final long begunNanos;
  private final ArrayDeque<Job> waiting = new ArrayDeque<>();
  private final Map<Job, EffectPart.Member> done = new HashMap<>();
  private final List<Job> culprits = new ArrayList<>(1);
  private final List<Job> cut = new ArrayList<>(0);
  private ActivityStore.@Nullable EffectGroup group;
  private List<Claim.Answer> answers = List.of();
  private EffectPart part = new EffectPart(List.of());
  private boolean saved;
  private boolean over;

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
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      if (answers.get(i) instanceof Claim.Started started) {
        job.claimed(started.ticket(), Long.MAX_VALUE); // the row lock is the fence
        job.committing = null;
        waiting.add(job);
      } else if (answers.get(i) instanceof Claim.Waiting stored && stored.fresh()) {
        job.storedFresh = true; // the answer when the group goes again says that it waits
      }
    }
    next();
  }

  /** The next part, or the commit; a transaction that takes long takes no more in. */
  private void next() {
    boolean late = lane.env().timers().nanos() - begunNanos > lane.lane().hardLimit().toNanos() / 2;
    if (waiting.isEmpty() || (late && !done.isEmpty())) {
      cut.addAll(waiting);
      waiting.clear();
      commit();
      return;
    }
    int size = single ? 1 : lane.partSize();
    if (size < jobs.size()) {
      saved = true;
      transaction().savepoint(); // pipelined; where it fails, so does what follows
    }
    List<EffectPart.Member> members = new ArrayList<>(size);
    while (members.size() < size && !waiting.isEmpty()) {
      Job job = waiting.remove();
      members.add(new EffectPart.Member(job, lane.runner().begin(job, single)));
    }
    part = new EffectPart(members);
    EffectHandler handler = ((BoundHandler.Effect) lane.lane().handler()).handler();
    for (EffectPart.Member member : members) {
      invoke(handler, member);
    }
  }

  private void invoke(EffectHandler handler, EffectPart.Member member) {
    Future<Receipt> result =
        lane.runner()
            .watched(member.job, () -> handler.run(member.run, transaction().connection()));
    result.onComplete(
        answer -> lane.runner().onContext(() -> returned(member, answer.result(), answer.cause())));
  }

  private void returned(
      EffectPart.Member member, @Nullable Receipt receipt, @Nullable Throwable error) {
    if (!member.run.returned()) {
      lane.runner().late(member.run, receipt, error);
      return;
    }
    lane.runner().count(member.run);
    if (part.returned(member, receipt, error) && !over) {
      partEnded();
    }
  }

  private void partEnded() {
    if (part.succeeded()) {
      part.members().forEach(member -> done.put(member.job, member));
      next();
      return;
    }
    boolean lost = part.connectionLost();
    if (saved && !lost) {
      lane.careful();
      undoPart();
    } else {
      over = true;
      transaction().rollback().onComplete(any -> rolledBack(lost));
    }
  }

  /** Those who failed by themselves leave the group; the others of their part go again. */
  private void undoPart() {
    List<Job> failed = part.failed();
    List<EffectPart.Member> members = part.members();
    for (int i = members.size() - 1; i >= 0; i--) {
      if (!failed.contains(members.get(i).job)) {
        waiting.addFirst(members.get(i).job);
      }
    }
    culprits.addAll(failed);
    List<ActivityId> ids = failed.stream().map(job -> job.id).toList();
    transaction()
        .rollbackToSavepoint()
        .compose(undone -> transaction().withdraw(ids))
        .onComplete(
            undone -> {
              if (undone.succeeded()) {
                next();
              } else {
                over = true;
                transaction().rollback().onComplete(any -> notCommitted(undone.cause()));
              }
            });
  }

  private void commit() {
    over = true;
    List<ActivityId> ids = cut.stream().map(job -> job.id).toList();
    Future<Void> kept = ids.isEmpty() ? Future.succeededFuture() : transaction().withdraw(ids);
    kept.compose(all -> transaction().commit(receipts()))
        .onComplete(
            committed -> {
              if (committed.succeeded()) {
                committed();
              } else {
                notCommitted(committed.cause());
              }
            });
  }

  private List<Receipt> receipts() {
    List<Receipt> receipts = new ArrayList<>(done.size());
    for (Job job : jobs) {
      EffectPart.Member member = done.get(job);
      if (member != null) {
        receipts.add(member.outcome());
      }
    }
    return receipts;
  }

  private void committed() {
    lane.closed(this);
    lane.committed();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      EffectPart.Member member = done.get(job);
      Receipt before = job.committing;
      if (member != null) {
        committed(job, member.outcome());
      } else if (answers.get(i) instanceof Claim.Duplicate && before != null) {
        committed(job, before); // by the commit whose answer was lost
      } else if (!(answers.get(i) instanceof Claim.Started)) {
        lane.claims().answered(job, answers.get(i), begunNanos);
      }
    }
    lane.failed(culprits, cut);
  }

  private void committed(Job job, Receipt receipt) {
    if (!single) {
      lane.runner().countStart(job); // what was rolled back never started
    }
    lane.settler().committed(job, new Settlement.Completed(receipt));
  }

  private void notCommitted(Throwable cause) {
    lane.closed(this);
    if (Failures.connectionLost(cause)) {
      done.forEach((job, member) -> job.committing = member.outcome());
      lane.later(this); // a row that was committed answers so
    } else if (single) {
      settleFailed(jobs.get(0), cause);
    } else {
      lane.failed(jobs, List.of()); // somebody hid a failed statement: each shows its own outcome
    }
  }

  private void rolledBack(boolean lost) {
    lane.closed(this);
    if (lost) {
      lane.later(this); // an outage costs no attempt
    } else if (single) {
      EffectPart.Member only = part.members().get(0);
      Throwable failure = only.error();
      Throwable error = failure == null ? new Outcomes.NullReceipt() : failure;
      settleFailed(only.job, error);
    } else {
      lane.careful();
      culprits.addAll(part.failed());
      lane.failed(culprits, others());
    }
  }

  private List<Job> others() {
    Set<Job> without = new HashSet<>(culprits);
    return jobs.stream().filter(job -> !without.contains(job)).toList();
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
    if (over || part.members().isEmpty()) {
      return;
    }
    long age = now - part.members().get(0).run.startedNanos();
    if (age > lane.lane().hardLimit().toNanos()) {
      hardLimit();
    } else if (age > lane.lane().softLimit().toNanos()) {
      part.out().forEach(member -> lane.runner().softLimit(member.run));
    }
  }

  /** The first that has not come back held the others up; it is the one that is charged. */
  private void hardLimit() {
    over = true;
    List<EffectPart.Member> out = part.out();
    giveUp(out);
    if (out.isEmpty()) {
      return;
    }
    EffectPart.Member slow = out.get(0);
    WorkerLog.hardLimit(slow.job, slow.run.ticket(), "transient");
    transaction().abandon().onComplete(done -> abandoned(slow.job));
  }

  /**
   * What a group rolls back never started, and leaks no slot: its counted start does if it hangs.
   */
  private void giveUp(List<EffectPart.Member> out) {
    for (EffectPart.Member member : out) {
      if (single) {
        lane.runner().giveUp(member.run);
      } else {
        lane.runner().close(member.run);
      }
    }
  }

  /** The shutdown's deadline found it open: rolled back, as if it had never started. */
  void shutDown() {
    if (over || group == null) {
      return;
    }
    over = true;
    giveUp(part.out());
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
      culprits.add(slow);
      lane.failed(culprits, others());
    }
  }

  private ActivityStore.EffectGroup transaction() {
    if (group == null) {
      throw new IllegalStateException("the transaction has not begun");
    }
    return group;
  }
}
