package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a copy of a dead letter to the queue's exchange once the dead letter is committed. The row
 * is the dead letter; the copy is for whoever listens, and is given up after some tries.
 */
final class DeadLetterCopies {
  private static final Logger LOG = LoggerFactory.getLogger(DeadLetterCopies.class);
  private static final int TRIES = 8;

  /** Header that says why, as RabbitMQ's own dead letters have x-death. */
  static final String REASON_HEADER = "fencepost-reason";

  private final Timers timers;
  private final Deliveries deliveries;

  DeadLetterCopies(Timers timers, Deliveries deliveries) {
    this.timers = timers;
    this.deliveries = deliveries;
  }

  void copy(QueueConfig queue, ActivityId id, DeadLetterReason reason, Delivery.Envelope envelope) {
    String exchange = queue.deadLetterExchange();
    if (exchange != null) {
      Map<String, Object> headers = new LinkedHashMap<>(envelope.headers());
      headers.put(REASON_HEADER, reason.wire());
      Delivery.Envelope copy =
          new Delivery.Envelope(
              envelope.exchange(),
              envelope.routingKey(),
              envelope.properties(),
              headers,
              envelope.body(),
              null);
      send(exchange, id, copy, new Backoff(), TRIES);
    }
  }

  private void send(
      String exchange, ActivityId id, Delivery.Envelope copy, Backoff backoff, int tries) {
    deliveries
        .publishCopy(exchange, copy)
        .onFailure(
            cause -> {
              if (tries > 1) {
                timers.after(backoff.next(), () -> send(exchange, id, copy, backoff, tries - 1));
              } else {
                LOG.warn("no copy of dead letter {} in {}: {}", id, exchange, cause.toString());
              }
            });
  }
}
