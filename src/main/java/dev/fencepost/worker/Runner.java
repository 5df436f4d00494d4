package dev.fencepost.worker;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.Receipt;
import dev.fencepost.decide.LeaseRules;
import dev.fencepost.model.Causes;
import dev.fencepost.model.ErrorInfo;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invokes handlers whose start has been claimed, and survives whatever they do: throw, return null,
 * never return, return twice, return on another thread, block the loop.
 */
final class Runner {
  private static final Logger LOG = LoggerFactory.getLogger(Runner.class);

  private final WorkerEnv env;
  private final Settler settler;
  private final BlockingPool pool;
  private final LoopWatch watch;

  Runner(WorkerEnv env, Settler settler, BlockingPool pool, LoopWatch watch) {
    this.env = env;
    this.settler = settler;
    this.pool = pool;
    this.watch = watch;
  }

  /** Runs a claimed job; its lane releases its lease when it is settled. */
  void start(Job job) {
    BoundHandler handler = job.lane.handler();
    if (handler instanceof BoundHandler.Async async) {
      invoke(job, async.handler());
    } else if (handler instanceof BoundHandler.Blocking blocking) {
      submit(job, blocking.handler());
    } else {
      job.lane.effects().single(job);
    }
  }

  private void invoke(Job job, ActivityHandler handler) {
    if (!mayStart(job)) {
      return;
    }
    Run run = begin(job, true);
    Future<Receipt> result = watched(job, () -> handler.run(run));
    result.onComplete(answer -> onContext(() -> ended(run, answer.result(), answer.cause())));
  }

  /** Calls handler code on the loop, timed. */
  <T> Future<T> watched(Job job, Supplier<@Nullable Future<T>> call) {
    watch.enter(job);
    try {
      return Guarded.call(call);
    } finally {
      watch.leave(job);
    }
  }

  private void submit(Job job, BlockingActivityHandler handler) {
    if (!mayStart(job)) {
      return; // it would only wait for a thread
    }
    pool.submit(
        new BlockingPool.Task<Receipt>() {
          private @Nullable Run run;

          @Override
          public TypeLane lane() {
            return job.lane;
          }

          @Override
          public boolean begin(Runnable giveUp) {
            if (!mayStart(job)) {
              return false;
            }
            run = Runner.this.begin(job, true);
            run.onClose(giveUp);
            return true;
          }

          @Override
          public @Nullable Receipt call() throws Exception {
            return run == null ? null : handler.run(run);
          }

          @Override
          public void ended(@Nullable Receipt receipt, @Nullable Throwable error) {
            if (run != null) {
              Runner.this.ended(run, receipt, error);
            }
          }
        });
  }

  /** The last look at the lease: what waited too long for its turn never ran, and says so. */
  boolean mayStart(Job job) {
    if (job.finished || job.settling || job.heldAt < 0) {
      return false; // lost while it waited, or given back
    }
    if (env.admission().stopped() || !LeaseRules.trusted(env.timers().nanos(), job.trustedUntil)) {
      settler.settle(job, new Settlement.Interrupted());
      return false;
    }
    return true;
  }

  /**
   * The run of a job, from now on.
   *
   * @param counted whether the start is committed
   */
  Run begin(Job job, boolean counted) {
    Claim.Ticket ticket = job.ticket();
    Run run = new Run(env, job, ticket);
    job.running(run);
    WorkerLog.start(job, ticket);
    TypeLane lane = job.lane;
    lane.inFlight++;
    env.events().inFlight(lane.queueName(), lane.type(), lane.inFlight);
    if (counted) {
      countStart(job);
    }
    return run;
  }

  void countStart(Job job) {
    if (job.ticket().first() && job.lane.config().retryBudget() != null) {
      job.lane.firstStarts.add(env.timers().nanos());
    }
    env.events().started(job.lane.queueName(), job.lane.type(), job.ticket().first());
  }

  private void ended(Run run, @Nullable Receipt receipt, @Nullable Throwable error) {
    if (!run.returned()) {
      late(run, receipt, error);
      return;
    }
    count(run);
    Job job = run.job();
    Throwable failure = receipt == null && error == null ? new Outcomes.NullReceipt() : error;
    if (failure == null && receipt != null) {
      Receipt before = run.recorded();
      settler.settle(job, new Settlement.Completed(before == null ? receipt : before));
    } else if (failure != null) {
      failed(run, failure);
    }
  }

  private void failed(Run run, Throwable failure) {
    Job job = run.job();
    if (Outcomes.timedOut(failure)) {
      WorkerLog.hardLimit(job, run.ticket(), "unknown");
    }
    run.onceRecorded(
        () ->
            settler.settle(
                job,
                Outcomes.failed(job.lane, run.ticket(), run.recorded(), failure, Math.random())));
  }

  /** A run is over: takes it out of the figures. */
  void count(Run run) {
    TypeLane lane = run.job().lane;
    lane.inFlight--;
    Duration took = Duration.ofNanos(env.timers().nanos() - run.startedNanos());
    tell(() -> env.events().inFlight(lane.queueName(), lane.type(), lane.inFlight));
    tell(() -> env.events().ran(lane.queueName(), lane.type(), took));
  }

  /** Between the end of a run and its settlement no fault of the figures may stand. */
  private static void tell(Runnable figures) {
    try {
      figures.run();
    } catch (RuntimeException fault) {
      LOG.error("a run is missing in the figures", fault);
    }
  }

  /** The soft limit: the handler is told and may end well. */
  void softLimit(Run run) {
    if (run.signalSoftLimit()) {
      WorkerLog.softLimit(run.job(), run.ticket());
    }
  }

  /** The hard limit: nobody waits any more, and the recovery table decides. */
  void hardLimit(Run run) {
    Job job = run.job();
    giveUp(run);
    failed(run, new Outcomes.HardLimit(job.lane.hardLimit()));
  }

  /** A renewal found that somebody has taken over. */
  void leaseLost(Job job) {
    Run run = job.run();
    if (job.settling) {
      return; // what ended its lease may be that settlement; its answer tells
    }
    if (run == null) {
      settler.leaseLost(job);
    } else if (run.state() == Run.State.OPEN) {
      giveUp(run);
      settler.leaseLost(job);
    } // else its settlement waits for a receipt that is on its way, and will be refused
  }

  /** Closes a run whose handler has not returned; its slot is leaked until it does. */
  void giveUp(Run run) {
    close(run);
    leak(run);
  }

  /** Ends a run that has not returned and of which no start is known. */
  void close(Run run) {
    count(run);
    run.close();
  }

  /** Counts the slot of a closed run as leaked. */
  void leak(Run run) {
    Job job = run.job();
    run.leak();
    env.active().leak(job.id);
    job.lane.loop().gates().leak(job.lane);
    tellLeaks(job.lane);
  }

  private void tellLeaks(TypeLane lane) {
    lane.allLeaked = lane.leaked >= lane.config().concurrency();
    tell(() -> env.events().leakedSlots(lane.queueName(), lane.type(), lane.leaked));
  }

  /** A handler came back after it had been given up, or a second time. */
  void late(Run run, @Nullable Receipt receipt, @Nullable Throwable error) {
    Job job = run.job();
    if (run.state() == Run.State.RETURNED) {
      WorkerLog.misbehaved(job, "returned a second time: ignored");
      return;
    }
    if (run.takeLeak()) {
      env.active().returned(job.id);
      job.lane.loop().gates().returned(job.lane);
      tellLeaks(job.lane);
    }
    if (job.lane.isEffect() || (receipt == null && Outcomes.timedOut(error))) {
      return; // rolled back, or it says what is known: there is nothing to be evidence of
    }
    ErrorInfo info = error == null ? null : ErrorInfo.of(Causes.unwrapped(error));
    Persistently.ask(
            env.timers(), () -> env.store().recordLate(env.owner(), run.ticket(), receipt, info))
        .onFailure(e -> LOG.warn("the late result of {} is lost: {}", job.id, e.toString()));
  }

  /** Fails a run that the shutdown deadline found open. */
  void orphan(Run run) {
    Job job = run.job();
    giveUp(run);
    settler.settle(job, Outcomes.orphaned(job.lane, run.ticket(), run.recorded()));
  }

  void onContext(Runnable task) {
    if (env.timers().onContext()) {
      task.run();
    } else {
      env.timers().execute(task);
    }
  }
}
