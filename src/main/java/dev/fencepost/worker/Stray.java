package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages that no handler here can take: poison, and types that nobody knows yet. */
final class Stray {
  private static final Logger LOG = LoggerFactory.getLogger(Stray.class);

  private final WorkerEnv env;
  private final QueueConfig queue;
  private final Runnable deadLettered;

  /**
   * @param deadLettered is called when there is a dead letter to copy
   */
  Stray(WorkerEnv env, QueueConfig queue, Runnable deadLettered) {
    this.env = env;
    this.queue = queue;
    this.deadLettered = deadLettered;
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
    return Persistently.ask(
            env.timers(), () -> env.store().poison(id, type, delivery.envelope(), error))
        .onSuccess(
            done -> {
              DeadLetterReason reason = DeadLetterReason.POISON_MESSAGE;
              WorkerLog.deadLetter(id, type, reason.wire(), 1, error);
              env.events().deadLettered(queue.name(), reason);
              env.events()
                  .settled(
                      queue.name(),
                      type == null ? "unknown" : type,
                      WorkerEvents.Outcome.DEAD_LETTERED);
              deadLettered.run();
            })
        .onFailure(e -> LOG.error("the dead letter of {} cannot be stored", id, e));
  }

  /** Completes when the message is kept for a worker that knows its type. */
  Future<Void> unresolved(Decoded.Event event, Delivery delivery) {
    ActivityId id = new ActivityId(queue.name(), event.eventId());
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
