package dev.fencepost.worker;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.decide.RetryPolicy;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One activity type of one queue: its slots, the jobs that wait for one, the leases it holds. Its
 * state is confined to the worker's context.
 */
final class TypeLane {
  private final QueueLoop loop;
  private final BoundHandler handler;
  private QueueConfig queue;
  private ActivityConfig config;
  private Claim.Work work;

  private @Nullable EffectLane effects;
  private final List<Runnable> onWork = new ArrayList<>(3);

  final ArrayDeque<Job> waiting = new ArrayDeque<>();
  private final List<Job> held = new ArrayList<>();

  /** Negative while more runs have leaked than are free. */
  int free;

  /** When a slot of it was given out last, by the monotonic clock. */
  long movedNanos;

  /** It has stood still, and what waits for it goes to the database. */
  boolean overflows;

  /** Slots that due retries wait for, and those they have been given. */
  int wanted;

  int granted;

  /** Slots to ask for when due retries find the type full. */
  int retryShare = 1;

  /** Of a type with a retry budget, those that it has not been told of. */
  final RecentStarts firstStarts = new RecentStarts();

  int inFlight;
  int leaked;

  /** Blocking probes that were given up and have not returned. */
  int hungProbes;

  /** No slot is left: every one is held by a handler that was given up. Read by any thread. */
  volatile boolean allLeaked;

  TypeLane(QueueLoop loop, QueueConfig queue, ActivityConfig config, BoundHandler handler) {
    this.loop = loop;
    this.queue = queue;
    this.config = config;
    this.handler = handler;
    this.free = config.concurrency();
    this.work = work(config);
  }

  private static Claim.Work work(ActivityConfig config) {
    return new Claim.Work(
        config.type(),
        config.kind(),
        config.retry().maxAttempts(),
        config.retry().maxRetries(),
        config.timing().lease().ttl());
  }

  /** Other values from now on; what has been claimed keeps those of its claim. */
  void reloaded(QueueConfig freshQueue, ActivityConfig fresh) {
    free += fresh.concurrency() - config.concurrency();
    queue = freshQueue;
    config = fresh;
    work = work(fresh);
  }

  /** The lane of its effects; only an {@code effect} type has one. */
  EffectLane effects() {
    if (effects == null) {
      throw new FencepostException(FailureKind.INTERNAL, type() + " is no effect");
    }
    return effects;
  }

  void effects(EffectLane made) {
    effects = made;
  }

  QueueLoop loop() {
    return loop;
  }

  String queueName() {
    return queue.name();
  }

  QueueConfig queue() {
    return queue;
  }

  String type() {
    return config.type();
  }

  ActivityKind kind() {
    return config.kind();
  }

  ActivityConfig config() {
    return config;
  }

  BoundHandler handler() {
    return handler;
  }

  Claim.Work work() {
    return work;
  }

  Duration softLimit() {
    return config.timing().soft();
  }

  Duration hardLimit() {
    return config.timing().hard();
  }

  boolean isEffect() {
    return config.kind() == ActivityKind.EFFECT;
  }

  boolean orderedByKey() {
    return queue.intake().ordering() == QueueConfig.Ordering.KEY;
  }

  RetryPolicy.Limits retryLimits() {
    ActivityConfig.Retry retry = config.retry();
    return new RetryPolicy.Limits(
        retry.maxRetries(),
        retry.baseDelay(),
        retry.multiplier(),
        retry.maxDelay(),
        retry.jitter());
  }

  /** The jobs whose lease is ours, in no order. Not to be changed while it is walked. */
  List<Job> held() {
    return held;
  }

  void hold(Job job) {
    job.heldAt = held.size();
    held.add(job);
    onWork.forEach(Runnable::run);
  }

  /** Called whenever there is more to watch over than there was: a lease, a transaction. */
  void onWork(Runnable watch) {
    onWork.add(watch);
  }

  /** A transaction of effects has begun. */
  void began() {
    onWork.forEach(Runnable::run);
  }

  /** Constant time: the last one takes its place. */
  void release(Job job) {
    if (job.heldAt < 0) {
      return;
    }
    Job last = held.remove(held.size() - 1);
    if (last != job) {
      held.set(job.heldAt, last);
      last.heldAt = job.heldAt;
    }
    job.heldAt = -1;
  }
}
