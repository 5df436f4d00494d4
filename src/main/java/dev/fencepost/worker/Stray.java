package dev.fencepost.worker;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import io.vertx.core.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages that no handler here can take: poison, and types that nobody knows yet. */
final class Stray {
  private static final Logger LOG = LoggerFactory.getLogger(Stray.class);

  private final WorkerEnv env;
  private final String queue;
  private final Consumer<DeadLettered> written;
  private final Consumer<DeadLettered> known;

  /**
   * @param written is told of each dead letter
   * @param known is told of what is none, since its id is known
   */
  Stray(WorkerEnv env, String queue, Consumer<DeadLettered> written, Consumer<DeadLettered> known) {
    this.env = env;
    this.queue = queue;
    this.written = written;
    this.known = known;
  }

  /** An event of a type that nobody here knows, on its way to where it is kept. */
  static final class Unknown extends Turn {
    final Decoded.Event event;
    final Delivery delivery;
    final long arrivedNanos;
    private final boolean ordered;

    /**
     * @param ordered whether its queue is ordered by key
     */
    Unknown(Decoded.Event event, Delivery delivery, boolean ordered, long arrivedNanos) {
      this.event = event;
      this.delivery = delivery;
      this.ordered = ordered;
      this.arrivedNanos = arrivedNanos;
    }

    @Override
    @Nullable String orderedBy() {
      return ordered ? event.key() : null;
    }
  }

  /** Completes when the dead letter is durable. */
  Future<Void> poison(Decoded.Poison poison, Delivery delivery) {
    return poison(poison.identity(), poison.type(), poison.error(), delivery);
  }

  /** The same for a message that could be read and cannot be stored. */
  Future<Void> refused(Job job, ErrorInfo error, Delivery delivery) {
    return poison(job.id, job.lane.type(), error, delivery);
  }

  private Future<Void> poison(
      ActivityId id, @Nullable String type, ErrorInfo error, Delivery delivery) {
    DeadLettered letter = new DeadLettered(id, type, DeadLetterReason.POISON_MESSAGE, 1, error);
    AtomicBoolean unanswered = new AtomicBoolean();
    return Persistently.ask(
            env.timers(),
            () ->
                env.store()
                    .poison(id, type, delivery.envelope(), error)
                    .onFailure(e -> unanswered.compareAndSet(false, Failures.outage(e))))
        .onSuccess(
            wrote -> {
              // Ours may be the one that is there: rather told twice than not at all.
              boolean ours = wrote || unanswered.get();
              (ours ? written : known).accept(letter);
            })
        .onFailure(e -> LOG.error("the dead letter of {} cannot be stored", id, e))
        .mapEmpty();
  }

  /**
   * Completes when the message is kept for a worker that knows its type; one that cannot be stored
   * so is dead, or it would keep its key for ever.
   */
  Future<Void> unresolved(Unknown unknown) {
    Decoded.Event event = unknown.event;
    Delivery.Envelope envelope = unknown.delivery.envelope();
    ActivityId id = new ActivityId(queue, event.eventId());
    return Persistently.ask(
            env.timers(),
            () -> env.store().storeUnresolved(id, event.type(), unknown.orderedBy(), envelope))
        .onSuccess(
            done ->
                LOG.warn(
                    "unresolved event={} type={} queue={}: no handler for this type",
                    id.eventId(),
                    event.type(),
                    id.consumer()))
        .recover(e -> poison(id, event.type(), ErrorInfo.of(e), unknown.delivery));
  }
}
