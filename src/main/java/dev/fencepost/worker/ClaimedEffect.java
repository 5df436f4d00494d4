package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.RunEvent;
import dev.fencepost.model.RunFailure;
import io.vertx.core.Future;
import java.util.List;

/** A claimed effect in a transaction of its own: its start is counted, whatever comes of it. */
final class ClaimedEffect extends EffectRun {
  private final Job job;

  ClaimedEffect(EffectLane lane, Job job) {
    super(lane, List.of(job), Sort.CLAIMED);
    this.job = job;
  }

  @Override
  Future<ActivityStore.EffectGroup> open() {
    WorkerEnv env = lane().env();
    Delivery.Envelope message = job.delivery == null ? null : job.envelope;
    return env.store().beginEffect(env.owner(), lane().lane().hardLimit(), job.ticket(), message);
  }

  @Override
  void notBegun(Throwable cause) {
    if (Failures.outage(cause) || Failures.conflict(cause)) {
      lane().later(this);
    } else if (FencepostException.is(cause, FailureKind.LEASE_LOST)) {
      lane().settler().leaseLost(job);
    } else {
      settleFailed(cause);
    }
  }

  @Override
  void begun(List<Claim.Answer> answers) {
    Claim.Answer answer = answers.get(0);
    if (answer instanceof Claim.Started started) {
      job.claimed(started.ticket(), Long.MAX_VALUE); // the row lock is the fence
      job.committing = null;
      beginPart();
      invoke(job);
      partIsWhole();
    } else {
      commit(List.of(), () -> answered(answer));
    }
  }

  private void answered(Claim.Answer answer) {
    Settlement.How before = job.committing;
    if (answer instanceof Claim.Duplicate && before != null) {
      lane().settler().committed(job, before); // by the commit whose answer was lost
    } else {
      lane().claims().answered(job, answer, askedNanos());
    }
  }

  @Override
  void partEnded(EffectPart ended) {
    EffectPart.Member only = ended.members().get(0);
    Throwable error = only.error();
    if (error == null) {
      Settlement.Completed done = only.completed();
      commit(List.of(done), () -> lane().settler().committed(job, done));
    } else if (ended.connectionLost()) {
      rollBack(() -> lane().later(this)); // an outage costs no attempt
    } else {
      rollBack(() -> settleFailed(error));
    }
  }

  private void commit(List<Settlement.Completed> done, Runnable then) {
    over();
    List<Receipt> receipts = done.stream().map(Settlement.Completed::receipt).toList();
    Guarded.call(() -> transaction().commit(receipts))
        .onComplete(
            committed -> {
              lane().closed(this);
              if (committed.succeeded()) {
                lane().committed();
                then.run();
              } else if (Failures.connectionLost(committed.cause())) {
                done.forEach(how -> job.committing = how);
                lane().later(this); // a row that was committed answers so
              } else {
                settleFailed(committed.cause());
              }
            });
  }

  private void settleFailed(Throwable error) {
    double random = job.run() == null ? 0 : Math.random();
    lane().settler().settle(job, Outcomes.failed(job.lane, job.ticket(), null, error, random));
  }

  @Override
  void giveUp(Run run) {
    lane().runner().giveUp(run);
  }

  @Override
  void tooMany(int returned) {
    abandoned(job); // it is alone
  }

  @Override
  void abandoned(Job slow) {
    settleFailed(new Outcomes.HardLimit(lane().lane().hardLimit()));
  }

  @Override
  void broken(RuntimeException fault) {
    settleFailed(
        new RunFailure(
            RunEvent.HANDLER_TRANSIENT_FAILURE, "its end could not be judged", null, fault));
  }

  @Override
  void shutDownEnded() {
    lane().settler().settle(job, new Settlement.Interrupted());
  }
}
