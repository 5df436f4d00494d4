package dev.fencepost.worker;

import dev.fencepost.api.ProbeResult;
import dev.fencepost.api.Receipt;
import dev.fencepost.decide.LeaseRules;
import dev.fencepost.decide.RecoveryTable;
import dev.fencepost.decide.RetryPolicy;
import dev.fencepost.model.Causes;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Asks the remote of a {@code queryable} activity whether it happened, under a lease of its own,
 * and ends that lease by the table's decision on the answer.
 */
final class Prober {
  private static final Duration LEAST_GRACE = Duration.ofSeconds(1);
  private static final int AT_ONCE = 16;

  private final WorkerEnv env;
  private final Runner runner;
  private final BlockingPool pool;
  private int open;

  Prober(WorkerEnv env, Runner runner, BlockingPool pool) {
    this.env = env;
    this.runner = runner;
    this.pool = pool;
  }

  /**
   * Time for a call that left before the hard limit to arrive: a tenth of it, at least a second.
   */
  static Duration grace(Duration hardLimit) {
    Duration tenth = hardLimit.dividedBy(10);
    return tenth.compareTo(LEAST_GRACE) < 0 ? LEAST_GRACE : tenth;
  }

  /** Whether the decision is stored; false: not now, or somebody was faster. */
  Future<Boolean> probe(
      Evidence evidence, @Nullable TypeLane lane, Delivery.@Nullable Envelope message) {
    if (lane == null
        || lane.isEffect()
        || open >= AT_ONCE
        || lane.hungProbes >= lane.config().concurrency()
        || env.active().busy(evidence.id())
        || !LeaseRules.mayBelieveNeverHappened(
            evidence.sinceStart(),
            lane.hardLimit(),
            grace(lane.hardLimit()),
            env.active().leaks(evidence.id()))) {
      return Future.succeededFuture(false);
    }
    open++;
    env.active().probing(evidence.id());
    return env.store()
        .holdForProbe(env.owner(), evidence, lane.work())
        .compose(
            hold ->
                hold == null ? Future.succeededFuture(false) : held(evidence, lane, hold, message))
        .onComplete(
            done -> {
              open--;
              env.active().probed(evidence.id());
            });
  }

  private Future<Boolean> held(
      Evidence evidence,
      TypeLane lane,
      ActivityStore.Hold hold,
      Delivery.@Nullable Envelope message) {
    Delivery.Envelope body = message == null ? hold.envelope() : message;
    Job job =
        new Job(
            lane,
            new Claim.Due(hold.ticket(), hold.key(), body == null ? nothing() : body),
            Long.MAX_VALUE,
            env.timers().nanos());
    long asked = env.timers().nanos();
    return ask(job, deadline(lane))
        .compose(answer -> settle(evidence, hold, answer, againIn(evidence, lane, asked), message));
  }

  /**
   * What is left of the backoff of a run that ended without an answer; a takeover waits for none.
   * Its end is what its lease's is, or (where an earlier probe has held it) a hard limit after its
   * start.
   */
  private Duration againIn(Evidence evidence, TypeLane lane, long askedNanos) {
    if (evidence.holder().open() || evidence.suspect()) {
      return Duration.ZERO; // its process was lost
    }
    Duration backoff =
        RetryPolicy.delay(evidence.counts().attempts() - 1, lane.retryLimits(), Math.random());
    Duration sinceLease = evidence.lease().overdue();
    Duration sinceLimit = evidence.sinceStart().minus(lane.hardLimit());
    Duration left =
        backoff
            .minus(sinceLease.compareTo(sinceLimit) > 0 ? sinceLease : sinceLimit)
            .minusNanos(env.timers().nanos() - askedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** The lease is not renewed, so the probe must have ended before it. */
  private static Duration deadline(TypeLane lane) {
    Duration half = lane.work().leaseTtl().dividedBy(2);
    return half.compareTo(lane.hardLimit()) < 0 ? half : lane.hardLimit();
  }

  private static Delivery.Envelope nothing() {
    return new Delivery.Envelope("", "", Map.of(), Map.of(), new byte[0], null);
  }

  /** Never fails: no answer is the answer unknown. */
  private Future<ProbeResult> ask(Job job, Duration deadline) {
    Promise<ProbeResult> answer = Promise.promise();
    Run run = new Run(env, job, job.ticket());
    BlockingProbe blocked =
        job.lane.handler() instanceof BoundHandler.Blocking blocking
            ? new BlockingProbe(blocking, run, answer)
            : null;
    Timers.Timer timer =
        env.timers()
            .after(
                deadline,
                () -> {
                  run.close();
                  if (blocked != null) {
                    blocked.givenUp();
                  }
                  answer.tryComplete(ProbeResult.unknown("no answer within " + deadline));
                });
    BoundHandler handler = job.lane.handler();
    if (handler instanceof BoundHandler.Async async) {
      runner
          .watched(job, () -> async.handler().probe(run))
          .onComplete(
              result -> runner.onContext(() -> answered(answer, result.result(), result.cause())));
    } else if (blocked != null) {
      pool.submit(blocked);
    }
    return answer.future().onComplete(done -> timer.cancel());
  }

  private static void answered(
      Promise<ProbeResult> answer, @Nullable ProbeResult result, @Nullable Throwable error) {
    answer.tryComplete(result == null ? ProbeResult.unknown(failed(error)) : result);
  }

  private static String failed(@Nullable Throwable error) {
    return "the probe failed: "
        + ErrorInfo.line(error == null ? new Outcomes.NullReceipt() : Causes.unwrapped(error));
  }

  private static final class BlockingProbe implements BlockingPool.Task<ProbeResult> {
    private final BoundHandler.Blocking handler;
    private final Run run;
    private final Promise<ProbeResult> answer;
    private boolean begun;
    private boolean hung;

    BlockingProbe(BoundHandler.Blocking handler, Run run, Promise<ProbeResult> answer) {
      this.handler = handler;
      this.run = run;
      this.answer = answer;
    }

    @Override
    public TypeLane lane() {
      return run.job().lane;
    }

    @Override
    public boolean begin(Runnable giveUp) {
      run.onClose(giveUp);
      begun = !answer.future().isComplete();
      return begun;
    }

    /** Its thread is replaced, which has to have an end. */
    void givenUp() {
      if (begun) {
        hung = true;
        lane().hungProbes++;
      }
    }

    @Override
    public @Nullable ProbeResult call() throws Exception {
      return handler.handler().probe(run);
    }

    @Override
    public void ended(@Nullable ProbeResult result, @Nullable Throwable error) {
      if (hung) {
        lane().hungProbes--;
      }
      answered(answer, result, error);
    }
  }

  private Future<Boolean> settle(
      Evidence evidence,
      ActivityStore.Hold hold,
      ProbeResult answer,
      Duration delay,
      Delivery.@Nullable Envelope message) {
    Receipt receipt =
        switch (answer.answer()) {
          case SUCCEEDED -> Receipt.succeeded(answer.detail());
          case FAILED_PERMANENT -> Receipt.failedPermanently(answer.detail());
          case NEVER_HAPPENED, UNKNOWN -> null;
        };
    ReceiptOutcome outcome = receipt == null ? null : receipt.outcome();
    RecoveryDecision decision =
        RecoveryTable.decide(
            true,
            outcome,
            answer.answer() == ProbeResult.Answer.NEVER_HAPPENED,
            evidence.counts().attempts(),
            evidence.counts().maxAttempts());
    String said = answer.answer() + (answer.detail() == null ? "" : ": " + answer.detail());
    return Persistently.ask(
            env.timers(),
            () ->
                env.store()
                    .settleProbed(
                        env.owner(),
                        hold.ticket(),
                        new ActivityStore.Probed(decision, receipt, said, delay),
                        message))
        .onSuccess(
            ours -> {
              if (ours) {
                Recovery.told(env, evidence, decision);
              }
            });
  }
}
