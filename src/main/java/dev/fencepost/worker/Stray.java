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

  /** Completes when the message is kept for a worker that knows its type. */
  Future<Void> unresolved(Decoded.Event event, Delivery delivery) {
    ActivityId id = new ActivityId(queue, event.eventId());
    return Persistently.ask(
            env.timers(),
            () -> env.store().storeUnresolved(id, event.type(), event.key(), delivery.envelope()))
        .onSuccess(
            done ->
                LOG.warn(
                    "unresolved event={} type={} queue={}: no handler for this type",
                    id.eventId(),
                    event.type(),
                    id.consumer()))
        .onFailure(e -> LOG.error("{} of unknown type cannot be stored", id, e));
  }
}
