package dev.fencepost.worker;

import dev.fencepost.decide.RecoveryTable;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of an activity whose lease has expired: the recovery table's decision, carried out
 * by compare and set on the fence of the evidence. A redelivery and the sweep come here alike.
 */
final class Recovery {
  private final WorkerEnv env;
  private final Prober prober;
  private Runnable due = () -> {};

  Recovery(WorkerEnv env, Prober prober) {
    this.env = env;
    this.prober = prober;
  }

  /** Is called when an activity has been made due. */
  void onDue(Runnable told) {
    due = told;
  }

  /**
   * Decides and carries out.
   *
   * @param lane the activity's type here, or null when this worker does not know it
   * @param asking the delivery that asks, or null for the sweep
   * @return whether the decision is made and stored; false: somebody was faster, or it cannot be
   *     decided yet
   */
  Future<Boolean> decide(Evidence evidence, @Nullable TypeLane lane, @Nullable Job asking) {
    Delivery.Envelope message = asking == null ? null : asking.envelope;
    if (env.active().leaks(evidence.id()) && evidence.kind() == ActivityKind.QUERYABLE) {
      return Future.succeededFuture(false);
    }
    if (claimedHere(evidence) && !ranHere(evidence)) {
      Job here = env.active().get(evidence.id());
      boolean runsHere = here != asking || env.active().busy(evidence.id());
      return runsHere ? Future.succeededFuture(false) : giveBack(evidence, lane, asking);
    }
    if (evidence.kind() == ActivityKind.QUERYABLE && evidence.receipt() == null) {
      return prober
          .probe(evidence, lane, message)
          .onSuccess(
              done -> {
                if (done) {
                  env.active().decided(evidence.id());
                }
                due.run();
              });
    }
    RecoveryDecision decision =
        RecoveryTable.decide(
            true,
            evidence.receipt(),
            Outcomes.retrySafe(evidence.kind()),
            evidence.counts().attempts(),
            evidence.counts().maxAttempts());
    return carryOut(asking, () -> env.store().recover(env.owner(), evidence, decision, message))
        .onSuccess(
            done -> {
              env.active().decided(evidence.id()); // by us or by somebody who was faster
              if (done) {
                told(env, evidence, decision);
                due.run();
              }
            });
  }

  /**
   * A delivery asks until it is answered. The sweep comes by again, and must not stand before one
   * row that somebody has locked while the leases of others run out behind it.
   */
  private <T> Future<T> carryOut(@Nullable Job asking, Supplier<Future<T>> request) {
    return asking == null ? Guarded.call(request::get) : Persistently.ask(env.timers(), request);
  }

  /** Its run has ended here, and that could not be stored. */
  private boolean ranHere(Evidence evidence) {
    return env.active().unstored(evidence.id(), evidence.holder().fence());
  }

  /** Not what a probe of ours holds, nor what a run of ours left undecided. */
  private boolean claimedHere(Evidence evidence) {
    Evidence.Holder holder = evidence.holder();
    return holder.open() && holder.owner().equals(env.owner());
  }

  /**
   * Claimed by this very process, but no run of it is here: the claim's answer was lost on its way.
   * It never ran under that fence, so the start is taken back.
   */
  private Future<Boolean> giveBack(
      Evidence evidence, @Nullable TypeLane lane, @Nullable Job asking) {
    if (lane == null) {
      return Future.succeededFuture(false);
    }
    Delivery.Envelope message = asking == null ? null : asking.envelope;
    Settlement back =
        new Settlement(Claims.lostTicket(lane, evidence), new Settlement.Interrupted(), message);
    return carryOut(asking, () -> env.store().settle(env.owner(), List.of(back)))
        .map(ours -> ours.get(0))
        .onSuccess(done -> due.run());
  }

  /** Logs and counts a decision that has been carried out. */
  static void told(WorkerEnv env, Evidence evidence, RecoveryDecision decision) {
    WorkerLog.takeover(evidence, decision);
    String queue = evidence.id().consumer();
    WorkerEvents events = env.events();
    events.takenOver(queue, evidence.type(), decision);
    switch (decision) {
      case RECORD_COMPLETION ->
          events.settled(queue, evidence.type(), WorkerEvents.Outcome.DISPATCHED);
      case MANUAL_REVIEW ->
          events.settled(queue, evidence.type(), WorkerEvents.Outcome.MANUAL_REVIEW);
      case RECORD_FAILURE, EXHAUSTED -> {} // the store tells of the dead letter it writes
      case WAIT, RETRY_SAME_ACTIVITY -> {} // nothing has ended
    }
  }
}
