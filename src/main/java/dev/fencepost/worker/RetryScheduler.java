package dev.fencepost.worker;

import dev.fencepost.decide.LeaseRules;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts what is due in the database: retries, work that was interrupted, decisions of operators.
 * Rests until {@link RetryLook} finds something due, or what was scheduled here is. They pass the
 * same gates as deliveries; a type that is always full gives them some of the slots that come free,
 * more while there is more to do.
 */
final class RetryScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(RetryScheduler.class);
  private static final long GRAIN_NANOS = Duration.ofMillis(50).toNanos();
  private static final int MOST_WAKES = 10_000;

  private final WorkerEnv env;
  private final QueueLoop loop;
  private final RetryBudgets budgets;
  private final Runner runner;
  private final TreeSet<Long> wakes = new TreeSet<>();
  private boolean more;

  RetryScheduler(WorkerEnv env, QueueLoop loop, RetryBudgets budgets, Runner runner) {
    this.env = env;
    this.loop = loop;
    this.budgets = budgets;
    this.runner = runner;
  }

  /** Something of this consumer will be due; what others schedule is found by the look. */
  void scheduled(Duration delay) {
    if (wakes.size() < MOST_WAKES) {
      long at = env.timers().nanos() + delay.toNanos();
      wakes.add((at / GRAIN_NANOS + 1) * GRAIN_NANOS);
    }
  }

  /** Until the next tick. */
  Duration pause() {
    if (more) {
      return Duration.ofMillis(1);
    }
    return wakes.isEmpty()
        ? Rearmed.REST
        : Duration.ofNanos(Math.max(1, wakes.first() - env.timers().nanos()));
  }

  /** Whether slots are kept for what was due at the last tick. */
  boolean keepsSlots() {
    return loop.lanes().stream().anyMatch(lane -> lane.wanted > 0 || lane.granted > 0);
  }

  Future<Void> tick() {
    more = false;
    while (!wakes.isEmpty() && wakes.first() <= env.timers().nanos()) {
      wakes.pollFirst();
    }
    if (!env.admission().open()) {
      return Future.succeededFuture();
    }
    return env.store()
        .mayBeDue(Set.of(loop.name()))
        .compose(due -> due.isEmpty() ? nothingDue() : start());
  }

  /** No slot is kept and no budget asked for nothing. */
  private Future<Void> nothingDue() {
    for (TypeLane lane : loop.lanes()) {
      if (lane.wanted > 0 || lane.granted > 0) {
        release(lane);
      }
    }
    return Future.succeededFuture();
  }

  /** Other types take the slots it was given. */
  private void release(TypeLane lane) {
    lane.wanted = 0;
    loop.gates().giveBack(lane, loop.gates().takeForRetries(lane, 0));
  }

  private Future<Void> start() {
    List<Share> shares = new ArrayList<>();
    List<Future<?>> reserved = new ArrayList<>();
    for (TypeLane lane : loop.lanes()) {
      if (lane.handler().admission().closedFor().isEmpty()) {
        Share share = new Share(lane, take(lane));
        shares.add(share);
        reserved.add(budgets.reserve(lane, share.slots).onSuccess(n -> share.reserved = n));
      } else {
        release(lane); // its remote is away
      }
    }
    return Future.join(reserved)
        .compose(done -> claim(shares))
        .onComplete(done -> shares.forEach(this::giveBack));
  }

  /** One type's part in a tick. */
  private static final class Share {
    final TypeLane lane;
    final int slots;
    RetryBudgets.Reservation reserved = RetryBudgets.Reservation.NONE;
    int used;

    /** Of those, the ones that were not started before: they are no retries. */
    int first;

    Share(TypeLane lane, int slots) {
      this.lane = lane;
      this.slots = slots;
    }

    int allowed() {
      return reserved.allowed();
    }
  }

  private int take(TypeLane lane) {
    int slots = loop.gates().takeForRetries(lane, lane.config().concurrency());
    if (slots == 0 && lane.wanted == 0) {
      lane.wanted = lane.retryShare;
    }
    return slots;
  }

  private Future<Void> claim(List<Share> shares) {
    Map<String, ActivityStore.Slots> free = new HashMap<>();
    Map<String, Share> byType = new HashMap<>();
    for (Share share : shares) {
      if (share.slots > 0) {
        int denied = share.slots - share.allowed();
        free.put(
            share.lane.type(), new ActivityStore.Slots(share.lane.work(), share.allowed(), denied));
        byType.put(share.lane.type(), share);
      }
      if (share.slots > 0 && share.allowed() == 0) {
        denied(share.lane);
      }
    }
    if (free.isEmpty() || !env.admission().open()) { // it may have closed since the tick began
      return Future.succeededFuture();
    }
    long sent = env.timers().nanos();
    env.active().claimingDue(true);
    return env.store()
        .claimDue(env.owner(), loop.name(), free)
        .onComplete(done -> env.active().claimingDue(false))
        .map(
            claimed -> {
              claimed.forEach(due -> start(byType, due, sent));
              return null;
            });
  }

  private void start(Map<String, Share> shares, Claim.Due due, long sentNanos) {
    Share share = shares.get(due.ticket().work().type());
    if (share != null) {
      share.used++;
      share.first += due.ticket().first() ? 1 : 0;
      Job job = job(share.lane, due, sentNanos);
      job.hasSlot = true;
      runner.start(job);
    }
  }

  /** A claimed start, registered as this process's job of its event. */
  Job job(TypeLane lane, Claim.Due due, long sentNanos) {
    Duration ttl = lane.work().leaseTtl();
    long trust = LeaseRules.trustUntil(sentNanos, ttl, LeaseRules.margin(ttl));
    Job job = new Job(lane, due, trust, env.timers().nanos());
    env.active().replace(job);
    lane.hold(job);
    return job;
  }

  /** The budget left some slots empty: a denial only where something was due for them. */
  private void denied(TypeLane lane) {
    env.store()
        .hasDue(loop.name(), lane.type())
        .onSuccess(
            due -> {
              if (due) {
                env.events().budgetDenied(loop.name(), lane.type());
              }
            })
        .onFailure(e -> LOG.debug("not known what the budget denied: {}", e.toString()));
  }

  private void giveBack(Share share) {
    TypeLane lane = share.lane;
    boolean full = share.used > 0 && share.used >= share.allowed();
    more |= full;
    lane.retryShare =
        full ? Math.min(Math.max(1, lane.config().concurrency() / 2), lane.retryShare * 2) : 1;
    int retries = share.used - share.first;
    if (retries > 0 && retries == share.allowed() && share.allowed() < share.slots) {
      denied(lane);
    }
    budgets.giveBack(lane, share.reserved, share.allowed() - retries);
    loop.gates().giveBack(lane, share.slots - share.used);
  }
}
