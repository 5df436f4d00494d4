package dev.fencepost.rabbit;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.Deliveries;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumer of one queue for life, confined to one context. It registers, is lost, waits and
 * registers again, each registration with an epoch of its own, until intake is stopped.
 *
 * <p>States: REGISTERING → CONSUMING → (lost) WAITING → REGISTERING …; {@link #stopIntake()} leads
 * to STOPPED, where deliveries in hand may still be acknowledged, {@link #close()} to CLOSED.
 */
final class QueueConsumer implements Deliveries.Subscription {

  private static final Logger LOG = LoggerFactory.getLogger(QueueConsumer.class);
  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

  /** A registration that lasted this long was no failure: the next wait is a short one. */
  private static final long STEADY_NANOS = Duration.ofSeconds(10).toNanos();

  private static final long CANCEL_MILLIS = 5_000;

  enum State {
    REGISTERING,
    CONSUMING,
    WAITING,
    STOPPED,
    CLOSED
  }

  /** What all consumers of a process have in common. */
  record Environment(
      Vertx vertx,
      Context context,
      BrokerThreads threads,
      SharedConnections connections,
      ContractCheck contract) {}

  /** A channel that consumes, since when, and what of it is to be acknowledged. */
  private record Registration(ConsumerChannel channel, long since, Acknowledger acks) {
    boolean steady() {
      return System.nanoTime() - since > STEADY_NANOS;
    }
  }

  private final Environment environment;
  private final Deliveries.Listener listener;
  private final ExecutorService thread;
  private final Registering registering;
  private final ContextInbox<ConsumerChannel.Event> inbox;
  private final List<Delivery> batch = new ArrayList<>();
  private final Promise<Deliveries.Subscription> first = Promise.promise();
  private final Promise<Void> cancelled = Promise.promise();

  private QueueConfig config;
  private State state = State.REGISTERING;
  private long epoch;
  private @Nullable Registration registration;
  private int failures;
  private final Outage outage = new Outage();
  private long retryTimer = -1;

  QueueConsumer(Environment environment, QueueConfig config, Deliveries.Listener listener) {
    this.environment = environment;
    this.config = config;
    this.listener = listener;
    this.thread = BrokerThreads.serial("fencepost-consume-" + config.name());
    this.registering = new Registering(environment.context(), environment.contract(), thread);
    this.inbox = new ContextInbox<>(environment.context(), this::handle, this::deliver);
  }

  /** Fails only with kind CONFIGURATION, when the first attempt finds the queue unsafe. */
  Future<Deliveries.Subscription> start() {
    register();
    return first.future();
  }

  boolean consuming() {
    return state == State.CONSUMING;
  }

  @Override
  public void ack(Delivery.Tag tag) {
    Registration present = registration;
    if (present == null || tag.epoch() != epoch || !present.acks().settle(tag.number())) {
      listener.staleAck(tag);
    }
  }

  @Override
  public Future<Void> stopIntake() {
    if (state == State.STOPPED || state == State.CLOSED) {
      return cancelled.future();
    }
    boolean registered = state == State.CONSUMING;
    state = State.STOPPED;
    environment.vertx().cancelTimer(retryTimer);
    Registration present = registration;
    if (!registered || present == null) {
      cancelled.tryComplete();
      return cancelled.future();
    }
    // A broker that does not answer sends nothing either; what it still sends is not taken.
    long deadline = environment.vertx().setTimer(CANCEL_MILLIS, id -> cancelled.tryComplete());
    thread.execute(
        () -> {
          try {
            present.channel().cancel();
          } catch (Exception e) {
            LOG.debug("queue {}: cancel failed: {}", config.name(), e.getMessage());
            BrokerThreads.onContext(environment.context(), () -> cancelled.tryComplete());
          }
        });
    return cancelled.future().onComplete(done -> environment.vertx().cancelTimer(deadline));
  }

  @Override
  public void prefetch(int prefetch) {
    QueueConfig.Intake intake = config.intake();
    QueueConfig tuned =
        config.with(new QueueConfig.Intake(prefetch, intake.concurrency(), intake.ordering()));
    config = tuned;
    Registration present = registration;
    if (present != null
        && state == State.CONSUMING
        && intake.ordering() == QueueConfig.Ordering.NONE) {
      thread.execute(() -> present.channel().retune(tuned, inbox));
    }
  }

  @Override
  public Future<Void> close() {
    if (state == State.CLOSED) {
      return Future.succeededFuture();
    }
    environment.vertx().cancelTimer(retryTimer);
    if (registration != null) {
      registration.acks().finish();
    }
    state = State.CLOSED;
    cancelled.tryComplete();
    first.tryComplete(this);
    return endEpoch()
        .eventually(
            () -> {
              thread.shutdown();
              return Future.succeededFuture();
            });
  }

  /** As {@link #close()}, from any context. */
  Future<Void> closeFromAnywhere() {
    Promise<Void> closed = Promise.promise();
    BrokerThreads.onContext(environment.context(), () -> close().onComplete(closed));
    return closed.future();
  }

  private void register() {
    long mine = ++epoch;
    state = State.REGISTERING;
    environment
        .connections()
        .acquire(environment.context(), false)
        .compose(share -> registering.register(share, config, mine, inbox))
        .onFailure(e -> lost(mine, RabbitErrors.of(e, "queue " + config.name())));
  }

  private void handle(ConsumerChannel.Event event) {
    if (event instanceof ConsumerChannel.Event.Registered registered) {
      registered(registered);
    } else if (event.epoch() != epoch) {
      return;
    } else if (event instanceof ConsumerChannel.Event.Delivered delivered) {
      if (registration != null) {
        registration.acks().delivered(delivered.delivery().tag().number());
        batch.add(delivered.delivery());
      }
    } else if (event instanceof ConsumerChannel.Event.Cancelled) {
      deliver();
      cancelled.tryComplete();
    } else if (event instanceof ConsumerChannel.Event.Lost lost) {
      deliver();
      lost(lost.epoch(), lost.cause());
    }
  }

  private void deliver() {
    if (!batch.isEmpty()) {
      List<Delivery> taken = List.copyOf(batch);
      batch.clear();
      listener.delivered(taken);
    }
  }

  private void registered(ConsumerChannel.Event.Registered event) {
    ConsumerChannel opened = event.channel();
    if (event.epoch() != epoch || state != State.REGISTERING) {
      // Intake was stopped, or the connection lost, while the broker answered.
      environment
          .threads()
          .run(
              () -> {
                opened.abort();
                opened.share().release();
              });
      return;
    }
    Acknowledger acks =
        new Acknowledger(
            environment.vertx(),
            environment.context(),
            settled -> thread.execute(() -> opened.acknowledge(settled)));
    registration = new Registration(opened, System.nanoTime(), acks);
    state = State.CONSUMING;
    LOG.info(
        "queue {}: consuming '{}' at {}",
        config.name(),
        config.queue(),
        opened.share().connection().uri().endpoint());
    outage.over();
    first.tryComplete(this);
    listener.consuming(epoch);
  }

  private void lost(long lostEpoch, FencepostException cause) {
    if (lostEpoch != epoch || state == State.WAITING || state == State.CLOSED) {
      return;
    }
    if (state == State.STOPPED && registration == null) {
      return; // what stopIntake() found unfinished
    }
    if (cause.kind() == FailureKind.CONFIGURATION && first.tryFail(cause)) {
      state = State.CLOSED;
      endEpoch();
      thread.shutdown();
      return;
    }
    failures = registration != null && registration.steady() ? 1 : failures + 1;
    endEpoch();
    cancelled.tryComplete();
    first.tryComplete(this);
    if (state != State.STOPPED) {
      state = State.WAITING;
      long wait = BACKOFF.millis(failures, ThreadLocalRandom.current());
      String line = "queue " + config.name() + ": not consuming: " + cause.getMessage();
      LOG.atLevel(outage.level(line)).log("{} (next try in {} ms)", line, wait);
      retryTimer = environment.vertx().setTimer(wait, id -> retry());
    }
    listener.interrupted(cause);
  }

  private void retry() {
    if (state == State.WAITING) {
      register();
    }
  }

  /** Closes the channel behind the acknowledgements handed to it; the next epoch starts clean. */
  private Future<Void> endEpoch() {
    Registration ended = registration;
    registration = null;
    batch.clear();
    if (ended == null) {
      return Future.succeededFuture();
    }
    ended.acks().end();
    return new ChannelCloser(environment.threads(), ended.channel().share(), thread)
        .close(environment.context(), ended.channel().amqp(), null);
  }
}
