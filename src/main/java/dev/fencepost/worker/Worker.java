package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.NotStarted;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Puts the loops of one worker together and starts them; {@link Shutdown} ends them in order. */
final class Worker {
  private final WorkerParts parts;
  private final WorkerEnv env;
  private final Settler settler;
  private final Runner runner;
  private final Claims claims;
  private final Recovery recovery;
  private final Map<QueueLoop, RetryScheduler> queues = new LinkedHashMap<>();
  private final List<TypeLane> lanes = new ArrayList<>();
  private final List<Rearmed> background = new ArrayList<>();
  private final List<Rearmed> renewals = new ArrayList<>();
  private final HeldDeliveries held;
  private final Answered answered = new Answered();

  Worker(WorkerParts parts, Timers timers, Executor threads, LoopWatch watch) {
    this.parts = parts;
    this.env =
        new WorkerEnv(
            parts.owner(),
            timers,
            parts.ports(),
            parts.settings(),
            new Admission(),
            new ActiveJobs());
    this.settler = new Settler(env);
    BlockingPool pool = new BlockingPool(timers, threads, parts.settings().poolSize());
    this.runner = new Runner(env, settler, pool, watch);
    this.recovery = new Recovery(env, new Prober(env, runner, pool));
    this.held = new HeldDeliveries(env, parts.consumerTimeout());
    this.claims = new Claims(env, answered);
    RetryBudgets budgets = new RetryBudgets(env);
    for (QueueConfig queue : parts.queues()) {
      add(new QueueLoop(env, queue, this::slotTaken), budgets);
    }
    wire();
  }

  private void add(QueueLoop loop, RetryBudgets budgets) {
    queues.put(loop, new RetryScheduler(env, loop, budgets, runner));
    for (TypeLane lane : loop.lanes()) {
      lanes.add(lane);
      if (lane.isEffect()) {
        EffectLane effects = new EffectLane(env, runner, settler, claims, lane);
        lane.effects(effects);
        env.admission().onOpen(effects::wake);
      }
    }
  }

  private void wire() {
    Map<String, QueueLoop> byName = new HashMap<>();
    queues.keySet().forEach(loop -> byName.put(loop.name(), loop));
    env.store().onDeadLetter(letter -> deadLettered(byName.get(letter.id().consumer()), letter));
    Map<String, Rearmed> schedulers = new HashMap<>();
    List<Overflow> overflows = new ArrayList<>();
    // What all queues do is done at common instants: a hundred idle ones wake the process as often
    // as one does.
    Beat sweeps = new Beat(env.timers(), this::sweepEvery);
    RetryLook look = new RetryLook(env);
    SweepLook sweepLook = new SweepLook(env);
    for (Map.Entry<QueueLoop, RetryScheduler> queue : queues.entrySet()) {
      QueueLoop loop = queue.getKey();
      RetryScheduler scheduler = queue.getValue();
      Rearmed retries = background("retries", scheduler::tick, scheduler::pause);
      schedulers.put(loop.name(), retries);
      look.add(loop.name(), scheduler, retries);
      loop.gates().onGrant(retries::wake);
      RecoverySweep sweep = new RecoverySweep(env, recovery, loop);
      sweepLook.add(loop.name(), sweep, background("sweep", sweep::tick, () -> Rearmed.REST));
      overflows.add(new Overflow(env, loop, claims, answered));
      copies(loop, sweeps);
    }
    background("due", look::tick, look::pause);
    background("expired", sweepLook::tick, sweeps::pause);
    background("overflow", () -> Overflow.tick(overflows), look::pause);
    Housekeeping keeping = new Housekeeping(env, List.copyOf(queues.keySet()));
    background("housekeeping", keeping::tick, sweeps::pause);
    background("purge", keeping::purge, sweeps::pause);
    Suspects suspects = new Suspects(env, runner, queues, lanes, claims);
    Rearmed alone = background("suspects", suspects::tick, suspects::pause);
    recovery.onDue(alone::wake);
    settler.onRetry(
        (loop, delay) -> {
          RetryScheduler scheduler = queues.get(loop);
          Rearmed retries = schedulers.get(loop.name());
          if (scheduler != null && retries != null) {
            scheduler.scheduled(delay);
            retries.rearm();
          }
        });
    env.store().onReleased(consumer -> env.timers().execute(() -> wake(schedulers.get(consumer))));
    watches();
  }

  private static void deadLettered(@Nullable QueueLoop loop, DeadLettered letter) {
    if (loop != null) { // nothing is asked about other queues
      loop.deadLettered(letter);
    }
  }

  private static void wake(@Nullable Rearmed loop) {
    if (loop != null) {
      loop.wake();
    }
  }

  private void copies(QueueLoop loop, Beat sweeps) {
    if (loop.config().deadLetterExchange() != null) {
      DeadLetterCopies copies = new DeadLetterCopies(env, loop, sweeps);
      Rearmed copying = background("copies", copies::tick, copies::pause);
      loop.onDeadLetter(copying::wake);
    }
  }

  /** They rest while there is nothing to watch over. */
  private void watches() {
    LimitWatch limits = new LimitWatch(env, runner, lanes);
    Rearmed limit = renewal("limits", limits::tick, limits::pause);
    for (TypeLane lane : lanes) {
      List<Rearmed> watches = new ArrayList<>(List.of(limit));
      if (LeaseKeeper.needed(lane)) {
        LeaseKeeper keeper = new LeaseKeeper(env, runner, lane);
        watches.add(renewal("renewals", keeper::tick, keeper::pause));
      }
      ProgressWatch progress = new ProgressWatch(env, lane);
      watches.add(renewal("progress", progress::tick, progress::pause));
      watches.forEach(watch -> lane.onWork(watch::rouse));
    }
  }

  private Rearmed renewal(String name, Supplier<Future<Void>> tick, Supplier<Duration> pause) {
    Rearmed loop = new Rearmed(name, env.timers(), tick, pause);
    renewals.add(loop);
    return loop;
  }

  private Rearmed background(String name, Supplier<Future<Void>> tick, Supplier<Duration> pause) {
    Rearmed loop = new Rearmed(name, env.timers(), tick, pause);
    background.add(loop);
    return loop;
  }

  /** Apart from each other, so that the fleet does not sweep the same page at the same moment. */
  private Duration sweepEvery() {
    long full = parts.settings().sweepEvery().toMillis();
    return Duration.ofMillis((long) (full * (0.75 + 0.25 * Math.random())));
  }

  Future<Void> start() {
    env.admission().watchLag(env.timers(), () -> env.active().size() > 0);
    renewals.forEach(Rearmed::start);
    background.forEach(Rearmed::start);
    List<Future<?>> consumers = new ArrayList<>();
    for (QueueLoop loop : queues.keySet()) {
      consumers.add(loop.start());
    }
    return consumers.isEmpty() ? Future.succeededFuture() : Future.all(consumers).mapEmpty();
  }

  /** What a reload may change, from now on. A queue that is not among them stays as it is. */
  void reloaded(Map<String, QueueConfig> fresh) {
    for (QueueLoop loop : queues.keySet()) {
      QueueConfig queue = fresh.get(loop.name());
      if (queue != null) {
        loop.reloaded(queue);
      }
    }
    renewals.forEach(Rearmed::rouse); // a timeout may have been set
  }

  /** Ends everything in order; never fails. */
  Future<Void> stop() {
    Shutdown.Loops loops = new Shutdown.Loops(background, renewals);
    return new Shutdown(env, runner, settler, claims, List.copyOf(queues.keySet()), loops).run();
  }

  /** Why it makes no progress, or null when it does. */
  @Nullable String notReady() {
    for (QueueLoop loop : queues.keySet()) {
      String reason = loop.notConsuming();
      if (reason != null) {
        return "queue " + loop.name() + " is not consumed: " + reason;
      }
    }
    String away = env.admission().databaseAway();
    if (away != null) {
      return "the database does not answer: " + away;
    }
    for (TypeLane lane : lanes) {
      if (lane.allLeaked) {
        return "all slots of "
            + lane.type()
            + " in queue "
            + lane.queueName()
            + " are held by handlers that did not return by their hard limit";
      }
    }
    return null;
  }

  /** A job has its slot: an effect goes to its transaction, all else to a claim. */
  private void slotTaken(Job job) {
    if (job.lane.isEffect() && !job.known) {
      job.lane.effects().add(job);
    } else {
      claims.add(job);
    }
  }

  /** What becomes of a job by the answer to its claim. */
  private final class Answered implements Claims.Answered {
    @Override
    public void started(Job job) {
      Optional<Duration> closed = job.lane.handler().admission().closedFor();
      if (closed.isPresent()) {
        NotStarted away = new NotStarted("the handler's remote is away", closed.get(), null);
        settler.settle(job, new Settlement.Postponed(closed.get(), ErrorInfo.of(away)));
      } else {
        runner.start(job);
      }
    }

    @Override
    public void stored(Job job, boolean duplicate) {
      if (duplicate) {
        env.events().settled(job.lane.queueName(), job.lane.type(), WorkerEvents.Outcome.DUPLICATE);
      }
      job.lane.release(job);
      job.lane.loop().end(job);
    }

    @Override
    public void held(Job job, Duration remaining, Evidence evidence) {
      job.lane.release(job);
      Job here = env.active().get(job.id);
      if (here != null && here != job) {
        job.lane.loop().follow(here, job);
      } else {
        held.hold(job, remaining);
      }
    }

    @Override
    public void expired(Job job, Evidence evidence) {
      job.lane.release(job);
      job.lane.loop().gates().leave(job);
      held.decided(job, recovery.decide(evidence, job.lane, job));
    }

    @Override
    public void refused(Job job, ErrorInfo error) {
      job.lane.loop().refused(job, error);
    }
  }
}
