package dev.fencepost.worker;

import dev.fencepost.config.ActivityConfig;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One consumer: takes its deliveries in, leads each to a claim in its turn, and acknowledges it
 * when its end is durable. What has not been claimed when its channel goes is forgotten: it comes
 * again.
 */
final class QueueLoop implements Deliveries.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(QueueLoop.class);
  private static final Future<Void> DONE = Future.succeededFuture();

  private final WorkerEnv env;
  private final Map<String, TypeLane> lanes = new LinkedHashMap<>();
  private final List<TypeLane> all;
  private final Gates gates;
  private final KeyOrder order;
  private final MessageDecoder decoder;
  private final Stray stray;
  private QueueConfig config;
  private Runnable onDeadLetter = () -> {};
  private Deliveries.@Nullable Subscription subscription;
  private boolean stopping;
  private int unacknowledged;
  private volatile long epoch = -1;
  private volatile String notConsuming = "the consumer has not been registered yet";

  /** Where a job goes from its slot. */
  interface Steps {
    void claim(Job job);
  }

  QueueLoop(WorkerEnv env, QueueConfig config, Steps steps) {
    this.env = env;
    this.config = config;
    for (ActivityConfig activity : config.activities().values()) {
      BoundHandler handler = env.ports().handlers().handlerFor(config, activity);
      lanes.put(activity.type(), new TypeLane(this, config, activity, handler));
    }
    this.all = List.copyOf(lanes.values());
    this.gates =
        new Gates(
            config.intake().concurrency(), all, env.admission(), env.timers()::nanos, steps::claim);
    this.order = new KeyOrder(this::itsTurn);
    this.decoder = new MessageDecoder(config.name(), config.defaultType());
    this.stray = new Stray(env, config.name(), this::deadLettered, this::knownPoison);
  }

  String name() {
    return config.name();
  }

  QueueConfig config() {
    return config;
  }

  /** Is called when a dead letter has been written here. */
  void onDeadLetter(Runnable told) {
    onDeadLetter = told;
  }

  /** A dead letter of this queue has become durable, whatever led to it. */
  void deadLettered(DeadLettered letter) {
    WorkerLog.deadLetter(letter);
    env.events().deadLettered(name(), letter.reason());
    settled(letter.type(), WorkerEvents.Outcome.DEAD_LETTERED);
    onDeadLetter.run();
  }

  /** The message is acknowledged, and changed nothing. */
  private void knownPoison(DeadLettered refused) {
    WorkerLog.poisonAgain(refused);
    settled(refused.type(), WorkerEvents.Outcome.DUPLICATE);
  }

  private void settled(@Nullable String type, WorkerEvents.Outcome outcome) {
    env.events().settled(name(), type == null ? "unknown" : type, outcome);
  }

  Gates gates() {
    return gates;
  }

  List<TypeLane> lanes() {
    return all;
  }

  /** Whether one type may keep the messages of the others from coming in. */
  boolean crowded() {
    return lanes.size() > 1 && unacknowledged >= config.intake().prefetch() / 2;
  }

  @Nullable TypeLane lane(String type) {
    return lanes.get(type);
  }

  /** Why it does not consume, or null when it does. */
  @Nullable String notConsuming() {
    return epoch < 0 ? notConsuming : null;
  }

  Future<Void> start() {
    QueueConfig asked = config;
    return env.ports()
        .deliveries()
        .consume(asked, this)
        .compose(
            made -> {
              subscription = made;
              prefetch(asked, config);
              return stopping ? made.stopIntake().compose(v -> made.close()) : DONE;
            });
  }

  /** Other limits from now on; nothing in flight notices. */
  void reloaded(QueueConfig fresh) {
    QueueConfig before = config;
    config = fresh;
    for (TypeLane lane : lanes.values()) {
      ActivityConfig activity = fresh.activities().get(lane.type());
      if (activity != null) {
        lane.reloaded(fresh, activity);
      }
    }
    prefetch(before, fresh);
    gates.resized(fresh.intake().concurrency() - before.intake().concurrency());
  }

  private void prefetch(QueueConfig before, QueueConfig now) {
    if (subscription != null && before.intake().prefetch() != now.intake().prefetch()) {
      subscription.prefetch(now.intake().prefetch());
    }
  }

  /** Also where the broker has not answered yet: what it registers later is closed at once. */
  Future<Void> stopIntake() {
    stopping = true;
    return subscription == null ? DONE : subscription.stopIntake();
  }

  Future<Void> close() {
    return subscription == null ? DONE : subscription.close();
  }

  @Override
  public void consuming(long newEpoch) {
    epoch = newEpoch;
    unacknowledged = 0;
    LOG.debug("queue={} consuming epoch={}", name(), newEpoch);
  }

  @Override
  public void interrupted(FencepostException cause) {
    epoch = -1;
    notConsuming = String.valueOf(cause.getMessage());
    LOG.debug("queue={} interrupted: {}", name(), notConsuming); // said aloud by who consumes
    List<Turn> unclaimed = new ArrayList<>(order.takeWaiting());
    for (TypeLane lane : lanes.values()) {
      unclaimed.addAll(lane.waiting);
      lane.waiting.clear();
    }
    for (Turn each : unclaimed) {
      if (each instanceof Job job) {
        forget(job);
      }
    }
  }

  @Override
  public void staleAck(Delivery.Tag tag) {
    LOG.debug("queue={} dropped an acknowledgement of {}", name(), tag);
  }

  @Override
  public void delivered(List<Delivery> batch) {
    unacknowledged += batch.size();
    for (Delivery delivery : batch) {
      try {
        env.events().delivered(name(), delivery.redelivered());
        accept(delivery);
      } catch (RuntimeException e) {
        LOG.error("queue={} a delivery could not be taken in; it stays unacknowledged", name(), e);
      }
    }
  }

  private void accept(Delivery delivery) {
    Decoded decoded = decoder.decode(delivery.envelope());
    long arrived = env.timers().nanos();
    if (decoded instanceof Decoded.Poison poison) {
      stray.poison(poison, delivery).onSuccess(done -> ack(delivery, arrived));
      return;
    }
    Decoded.Event event = (Decoded.Event) decoded;
    TypeLane lane = lanes.get(event.type());
    if (lane == null) {
      boolean ordered = config.intake().ordering() == QueueConfig.Ordering.KEY;
      order.offer(new Stray.Unknown(event, delivery, ordered, arrived));
    } else {
      enter(new Job(lane, event, delivery, arrived));
    }
  }

  /** No event of its key that came before it is here unstored any more. */
  private void itsTurn(Turn event) {
    if (event instanceof Job job) {
      gates.offer(job);
    } else if (event instanceof Stray.Unknown unknown) {
      stray
          .unresolved(unknown)
          .onSuccess(
              done -> {
                order.ended(unknown);
                ack(unknown.delivery, unknown.arrivedNanos);
              });
    }
  }

  private void enter(Job job) {
    env.admission().watchClosely();
    Job here = env.active().enter(job);
    if (here != null) {
      here.follow(job); // one job of an event at a time; this one is claimed when that has ended
    } else {
      order.offer(job);
    }
  }

  /** The job's end is durable: its delivery is acknowledged, its slot and its turn go on. */
  void end(Job job) {
    if (leave(job) && job.delivery != null) {
      ack(job.delivery, job.arrivedNanos);
    }
  }

  /** Another owner has the activity now; the message may still be needed and asks again. */
  void endLost(Job job) {
    if (leave(job) && job.delivery != null && !stale(job)) {
      enter(job.again(env.timers().nanos()));
    }
  }

  /** The database refuses the row itself: dead, with its message. */
  void refused(Job job, ErrorInfo error) {
    Delivery delivery = job.delivery;
    if (delivery == null) {
      leave(job);
    } else {
      stray.refused(job, error, delivery).onSuccess(done -> end(job));
    }
  }

  /** Another job of the event is here: this one asks again when that has ended. */
  void follow(Job here, Job job) {
    job.finished = true;
    order.ended(job);
    gates.leave(job);
    here.follow(job.again(env.timers().nanos()));
    job.takeFollowers().forEach(here::follow);
  }

  /** Waits without a slot, and asks again. */
  void wait(Job job, Duration delay) {
    gates.leave(job);
    env.timers().after(delay, () -> retry(job));
  }

  private void retry(Job job) {
    if (stale(job)) {
      forget(job);
    } else if (!job.finished) {
      gates.offer(job);
    }
  }

  /** Not claimed, and its channel has gone: the broker sends it again. */
  private void forget(Job job) {
    leave(job);
  }

  private boolean leave(Job job) {
    if (job.finished) {
      return false;
    }
    job.finished = true;
    env.active().leave(job);
    order.ended(job);
    gates.leave(job);
    for (Job follower : job.takeFollowers()) {
      if (!stale(follower)) {
        enter(follower);
      }
    }
    return true;
  }

  private boolean stale(Job job) {
    return job.delivery != null && job.delivery.tag().epoch() != epoch;
  }

  private void ack(Delivery delivery, long arrived) {
    if (delivery.tag().epoch() == epoch) {
      unacknowledged--;
    }
    if (subscription != null) {
      subscription.ack(delivery.tag());
      env.events().acknowledged(name(), Duration.ofNanos(env.timers().nanos() - arrived));
    }
  }
}
