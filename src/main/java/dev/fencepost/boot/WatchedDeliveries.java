package dev.fencepost.boot;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.Deliveries;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The worker's deliveries, watched for queues that the broker refuses before they were ever
 * consumed: a missing right is for a person to mend, not for a loop to wait out.
 */
final class WatchedDeliveries implements Deliveries {

  private final Deliveries deliveries;
  private final Promise<Void> refused = Promise.promise();

  /** Queues that are not consumed now, and what is known of it. */
  private final Map<String, String> away = new ConcurrentSkipListMap<>();

  WatchedDeliveries(Deliveries deliveries) {
    this.deliveries = deliveries;
  }

  /** Fails once when a queue was refused; never completes otherwise. */
  Future<Void> refused() {
    return refused.future();
  }

  /** Why a queue is not consumed, by the kind of what interrupted it; empty when all are. */
  Optional<String> interruption() {
    return away.values().stream().findFirst();
  }

  @Override
  public Future<Subscription> consume(QueueConfig queue, Listener listener) {
    away.put(queue.name(), "not_consuming");
    return deliveries.consume(queue, new Watching(queue, listener));
  }

  @Override
  public Future<Void> publishCopy(String exchange, Delivery.Envelope message) {
    return deliveries.publishCopy(exchange, message);
  }

  @Override
  public Future<Void> close() {
    return deliveries.close();
  }

  private final class Watching implements Listener {
    private final QueueConfig queue;
    private final Listener listener;
    private boolean consumed;

    Watching(QueueConfig queue, Listener listener) {
      this.queue = queue;
      this.listener = listener;
    }

    @Override
    public void delivered(List<Delivery> batch) {
      listener.delivered(batch);
    }

    @Override
    public void consuming(long epoch) {
      consumed = true;
      away.remove(queue.name());
      listener.consuming(epoch);
    }

    @Override
    public void interrupted(FencepostException cause) {
      FailureKind kind = cause.kind();
      away.put(queue.name(), kind.wire());
      if (!consumed
          && (kind == FailureKind.BROKER_ACCESS_REFUSED
              || kind == FailureKind.BROKER_AUTHENTICATION)) {
        refused.tryFail(
            new FencepostException(
                kind, "queues." + queue.name() + ": " + cause.getMessage(), cause));
      }
      listener.interrupted(cause);
    }

    @Override
    public void staleAck(Delivery.Tag tag) {
      listener.staleAck(tag);
    }
  }
}
