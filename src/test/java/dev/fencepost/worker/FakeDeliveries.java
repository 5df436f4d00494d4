package dev.fencepost.worker;

import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A broker with one queue per consumer that redelivers what was not acknowledged. */
final class FakeDeliveries implements Deliveries {
  record Copy(String exchange, Delivery.Envelope message) {}

  final List<Delivery.Tag> acked = new ArrayList<>();
  final List<Copy> copies = new ArrayList<>();
  final Map<Delivery.Tag, Delivery> unacked = new LinkedHashMap<>();
  int stale;
  int refusedCopies;
  int prefetch = Integer.MAX_VALUE;
  boolean stopped;
  boolean closed;
  private Listener listener;
  private QueueConfig queue;
  private long epoch;
  private long tag;
  private final ArrayDeque<Ready> ready = new ArrayDeque<>();
  private boolean handingOver;

  private record Ready(Delivery.Envelope message, boolean redelivered) {}

  @Override
  public Future<Subscription> consume(QueueConfig config, Listener told) {
    queue = config;
    listener = told;
    told.consuming(++epoch);
    return Future.succeededFuture(
        new Subscription() {
          @Override
          public void ack(Delivery.Tag settled) {
            if (unacked.remove(settled) == null) {
              stale++;
              listener.staleAck(settled);
            } else {
              acked.add(settled);
              handOver();
            }
          }

          @Override
          public Future<Void> stopIntake() {
            stopped = true;
            return Future.succeededFuture();
          }

          @Override
          public Future<Void> close() {
            closed = true;
            return Future.succeededFuture();
          }
        });
  }

  void deliver(Delivery.Envelope... messages) {
    deliver(false, Arrays.asList(messages));
  }

  void redeliver(Delivery.Envelope... messages) {
    deliver(true, Arrays.asList(messages));
  }

  private void deliver(boolean redelivered, List<Delivery.Envelope> messages) {
    messages.forEach(message -> ready.add(new Ready(message, redelivered)));
    handOver();
  }

  /** Messages that the prefetch keeps back. */
  int ready() {
    return ready.size();
  }

  private void handOver() {
    if (handingOver) {
      return; // an acknowledgement from within
    }
    handingOver = true;
    while (!ready.isEmpty() && unacked.size() < prefetch) {
      List<Delivery> batch = new ArrayList<>();
      while (!ready.isEmpty() && unacked.size() < prefetch) {
        Ready next = ready.remove();
        Delivery delivery =
            new Delivery(
                queue.name(),
                new Delivery.Tag(epoch, ++tag),
                next.redelivered(),
                next.redelivered() ? 2 : 0,
                next.message());
        unacked.put(delivery.tag(), delivery);
        batch.add(delivery);
      }
      listener.delivered(batch);
    }
    handingOver = false;
  }

  /** The channel goes; what was not acknowledged comes again on the next one. */
  void dropChannel() {
    List<Delivery.Envelope> again = unacked.values().stream().map(Delivery::envelope).toList();
    unacked.clear();
    listener.interrupted(new FencepostException(FailureKind.CHANNEL_CLOSED, "dropped"));
    listener.consuming(++epoch);
    List<Ready> later = List.copyOf(ready);
    ready.clear();
    again.forEach(message -> ready.add(new Ready(message, true)));
    ready.addAll(later);
    handOver();
  }

  @Override
  public Future<Void> close() {
    closed = true;
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> publishCopy(String exchange, Delivery.Envelope message) {
    if (refusedCopies > 0) {
      refusedCopies--;
      return Future.failedFuture(
          new FencepostException(FailureKind.CHANNEL_CLOSED, "no such exchange"));
    }
    copies.add(new Copy(exchange, message));
    return Future.succeededFuture();
  }
}
