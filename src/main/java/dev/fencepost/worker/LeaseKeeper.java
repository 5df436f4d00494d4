package dev.fencepost.worker;

import dev.fencepost.decide.LeaseRules;
import dev.fencepost.model.ActivityKind;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of one activity type: one statement per tick for all of them, with the progress
 * of each. A run past its hard limit is not renewed, whatever its handler does.
 */
final class LeaseKeeper {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

  /** What one statement carries. */
  private record Tick(long sent, List<Job> jobs, List<ActivityStore.Renewal> renewals) {}

  private final WorkerEnv env;
  private final Runner runner;
  private final TypeLane lane;
  private final Duration every;
  private final Duration ttl;
  private final Duration margin;

  LeaseKeeper(WorkerEnv env, Runner runner, TypeLane lane) {
    this.env = env;
    this.runner = runner;
    this.lane = lane;
    this.every = lane.config().timing().lease().renewEvery();
    this.ttl = lane.work().leaseTtl();
    this.margin = LeaseRules.margin(ttl);
  }

  /** Effects need no lease: their row lock is the fence. */
  static boolean needed(TypeLane lane) {
    return lane.kind() != ActivityKind.EFFECT;
  }

  /** Rests while nothing is held: what is claimed next has a whole lease before it. */
  Duration pause() {
    return lane.held().isEmpty() ? Rearmed.REST : every;
  }

  Future<Void> tick() {
    long sent = env.timers().nanos();
    List<Job> jobs = new ArrayList<>();
    List<ActivityStore.Renewal> renewals = new ArrayList<>();
    for (Job job : lane.held()) {
      if (mayRenew(job, sent)) {
        jobs.add(job);
        renewals.add(renewal(job));
      }
    }
    if (jobs.isEmpty()) {
      return Future.succeededFuture();
    }
    return env.store()
        .renew(env.owner(), ttl, renewals)
        .map(
            held -> {
              answered(new Tick(sent, jobs, renewals), held);
              return null;
            });
  }

  private boolean mayRenew(Job job, long now) {
    Run run = job.run();
    return run == null
        || (run.state() != Run.State.CLOSED
            && now - run.startedNanos() < lane.hardLimit().toNanos());
  }

  private static ActivityStore.Renewal renewal(Job job) {
    Run run = job.run();
    Run.Progress progress = run == null ? null : run.unstored();
    return new ActivityStore.Renewal(
        job.id,
        job.ticket().fence(),
        progress == null ? null : progress.seq(),
        progress == null ? null : progress.phase());
  }

  private void answered(Tick tick, List<ActivityStore.Renewed> answers) {
    for (int i = 0; i < tick.jobs.size(); i++) {
      Job job = tick.jobs.get(i);
      switch (answers.get(i)) {
        case STORED -> stored(job, tick.renewals.get(i), tick.sent);
        case SKIPPED -> {} // the next one asks again, with its progress
        case LOST -> {
          if (job.heldAt >= 0) {
            LOG.debug("{} has been taken over", job.id);
            runner.leaseLost(job);
          }
        }
      }
    }
  }

  private void stored(Job job, ActivityStore.Renewal renewal, long sent) {
    job.trustedUntil = LeaseRules.trustUntil(sent, ttl, margin);
    Run run = job.run();
    Long seq = renewal.progressSeq();
    if (run != null && seq != null) {
      run.stored(seq);
    }
  }
}
