package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.util.List;

/** Port: consumes with manual acknowledgement. Called on one context, calls back on it. */
public interface Deliveries {

  /**
   * Declares what the configuration says, checks what the broker will do, and consumes for life:
   * after any loss (connection, channel, cancel, queue gone) it comes back with backoff and with
   * prefetch set.
   *
   * @return fails only with kind CONFIGURATION (an unsafe queue, with the remedy); otherwise
   *     completes at once and reports through the listener
   */
  Future<Subscription> consume(QueueConfig queue, Listener listener);

  /** Closes all consumers and connections. */
  Future<Void> close();

  interface Subscription {
    /**
     * The delivery is settled: acknowledges it, grouped with its neighbours. Of an older epoch:
     * dropped and counted. Twice: dropped and counted.
     */
    void ack(Delivery.Tag tag);

    /**
     * Cancels the consumer; deliveries in hand may still be acknowledged. Completes when no more
     * come.
     */
    Future<Void> stopIntake();

    /**
     * Changes how many deliveries may be in hand; what is in hand keeps its tags. Where the queue
     * has a single active consumer it takes effect at the next registration only: to change it at
     * once would hand the queue to another process in the middle of a key.
     */
    default void prefetch(int prefetch) {}

    /**
     * Sends the acknowledgements still pending and closes; what is not acknowledged is redelivered.
     */
    Future<Void> close();
  }

  interface Listener {
    void delivered(List<Delivery> batch);

    /** The consumer is registered; a new epoch begins. */
    void consuming(long epoch);

    /**
     * The consumer is gone; everything of its epoch will be redelivered. It comes back by itself.
     */
    void interrupted(FencepostException cause);

    /** An acknowledgement that was dropped: an older epoch, or settled before. */
    void staleAck(Delivery.Tag tag);
  }

  /** Sends a copy of a dead letter to an exchange, confirmed. */
  Future<Void> publishCopy(String exchange, Delivery.Envelope message);
}
