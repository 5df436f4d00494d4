package dev.fencepost.metrics;

import dev.fencepost.model.DeadLetterReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The meters of one queue. */
final class QueueMeters {
  final Counter delivered;
  final Counter redelivered;
  final Timer deliveryToAck;
  final Map<DeadLetterReason, Counter> deadLetters = new EnumMap<>(DeadLetterReason.class);
  final AtomicLong reviews = new AtomicLong();
  final AtomicLong expiredMillis = new AtomicLong();

  private final Map<String, TypeMeters> types = new HashMap<>();
  private final Instruments instruments;
  private final String queue;
  private @Nullable TypeMeters other;

  QueueMeters(Instruments instruments, String queue, Collection<String> known) {
    this.instruments = instruments;
    this.queue = queue;
    Tags tags = Tags.of("queue", queue);
    delivered = deliveries(instruments, tags.and("redelivered", "false"));
    redelivered = deliveries(instruments, tags.and("redelivered", "true"));
    deliveryToAck =
        instruments.timer(
            "fencepost.worker.delivery.to.ack",
            "From a delivery to its acknowledgement",
            tags,
            Buckets.run());
    for (DeadLetterReason reason : DeadLetterReason.values()) {
      deadLetters.put(
          reason,
          instruments.counter(
              "fencepost.dead.letters", "Dead letters written", tags.and("reason", reason.wire())));
    }
    instruments.gauge(
        "fencepost.reviews.open",
        "Activities that wait for an operator's decision",
        tags,
        reviews,
        AtomicLong::doubleValue);
    instruments.gauge(
        "fencepost.worker.oldest.expired.lease.age",
        "How long the oldest lease is over that nobody has decided about yet",
        tags,
        expiredMillis,
        millis -> millis.doubleValue() / 1_000);
    for (String type : known) {
      types.put(type, new TypeMeters(instruments, queue, type));
    }
  }

  TypeMeters type(String type) {
    TypeMeters meters = types.get(type);
    return meters == null ? other() : meters;
  }

  /** Made when it is first needed; a type of that name shares it. */
  private TypeMeters other() {
    TypeMeters made = other;
    if (made == null) {
      TypeMeters named = types.get(WorkerMeters.OTHER);
      made = named == null ? new TypeMeters(instruments, queue, WorkerMeters.OTHER) : named;
      other = made;
    }
    return made;
  }

  private static Counter deliveries(Instruments instruments, Tags tags) {
    return instruments.counter(
        "fencepost.worker.deliveries", "Messages that the broker delivered", tags);
  }
}
