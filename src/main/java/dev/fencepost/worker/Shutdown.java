package dev.fencepost.worker;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops in order, every step with a deadline: intake, new starts, then what is in flight; what the
 * deadline finds running is reported and settled by its kind; renewals stop last, so that nobody
 * takes over what is still being settled here.
 */
final class Shutdown {
  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);
  private static final Duration STEP = Duration.ofSeconds(5);
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);

  /** What is stopped first, and what is stopped last. */
  record Loops(List<Rearmed> background, List<Rearmed> renewals) {}

  private final WorkerEnv env;
  private final Runner runner;
  private final Settler settler;
  private final Claims claims;
  private final List<QueueLoop> queues;
  private final Loops loops;

  Shutdown(
      WorkerEnv env,
      Runner runner,
      Settler settler,
      Claims claims,
      List<QueueLoop> queues,
      Loops loops) {
    this.env = env;
    this.runner = runner;
    this.settler = settler;
    this.claims = claims;
    this.queues = queues;
    this.loops = loops;
  }

  Future<Void> run() {
    env.admission().stop();
    loops.background().forEach(Rearmed::stop);
    return each(QueueLoop::stopIntake)
        .compose(
            stopped -> {
              signal();
              return until(this::idle, env.settings().shutdownDeadline());
            })
        .compose(
            drained -> {
              orphans();
              return until(this::idle, STEP);
            })
        .compose(
            settled -> {
              loops.renewals().forEach(Rearmed::stop);
              return each(QueueLoop::close);
            });
  }

  /** One step on every queue, within its deadline; a failure is logged and does not stop us. */
  private Future<Void> each(Function<QueueLoop, Future<Void>> step) {
    List<Future<?>> all = new ArrayList<>();
    for (QueueLoop queue : queues) {
      Promise<Void> done = Promise.promise();
      Timers.Timer timer = env.timers().after(STEP, done::tryComplete);
      Guarded.call(() -> step.apply(queue))
          .onFailure(e -> LOG.warn("queue={} does not stop well: {}", queue.name(), e.toString()))
          .onComplete(any -> done.tryComplete());
      all.add(done.future().onComplete(any -> timer.cancel()));
    }
    return all.isEmpty() ? Future.succeededFuture() : Future.join(all).mapEmpty();
  }

  private void signal() {
    interruptWaiting();
    for (Run run : open()) {
      run.signalSoftLimit();
    }
  }

  /**
   * What has been claimed and waits for a thread, or for its turn, will not run here: given back
   * now, for others to start.
   */
  private void interruptWaiting() {
    for (QueueLoop queue : queues) {
      for (TypeLane lane : queue.lanes()) {
        if (lane.isEffect()) {
          lane.effects().wake();
        } else {
          lane.held().stream().filter(job -> job.run() == null).forEach(runner::mayStart);
        }
      }
    }
  }

  private List<Run> open() {
    List<Run> open = new ArrayList<>();
    for (QueueLoop queue : queues) {
      for (TypeLane lane : queue.lanes()) {
        for (Job job : lane.held()) {
          Run run = job.run();
          if (run != null && run.state() == Run.State.OPEN) {
            open.add(run);
          }
        }
      }
    }
    return open;
  }

  /** Nothing claimed is unsettled, no transaction is open. */
  private boolean idle() {
    if (claims.pending() > 0 || settler.pending() > 0 || env.active().claimsDue()) {
      return false;
    }
    for (QueueLoop queue : queues) {
      for (TypeLane lane : queue.lanes()) {
        if (!lane.held().isEmpty() || (lane.isEffect() && !lane.effects().idle())) {
          return false;
        }
      }
    }
    return true;
  }

  private void orphans() {
    for (Run run : open()) {
      Job job = run.job();
      LOG.warn(
          "orphan event={} type={} queue={} fence={} still runs at the shutdown deadline",
          job.id.eventId(),
          job.lane.type(),
          job.id.consumer(),
          run.ticket().fence());
      if (!job.lane.isEffect()) {
        runner.orphan(run);
      }
    }
    for (QueueLoop queue : queues) {
      for (TypeLane lane : queue.lanes()) {
        if (lane.isEffect()) {
          List.copyOf(lane.effects().open()).forEach(EffectRun::shutDown);
        }
      }
    }
  }

  private Future<Void> until(BooleanSupplier condition, Duration atMost) {
    Promise<Void> met = Promise.promise();
    look(condition, env.timers().nanos() + atMost.toNanos(), met);
    return met.future();
  }

  private void look(BooleanSupplier condition, long deadline, Promise<Void> met) {
    if (condition.getAsBoolean() || deadline - env.timers().nanos() <= 0) {
      met.complete();
    } else {
      env.timers().after(LOOK_EVERY, () -> look(condition, deadline, met));
    }
  }
}
