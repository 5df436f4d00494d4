package dev.fencepost.relay;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A broker that confirms everything at once, or what it is told to do. */
final class FakePublisher implements Publisher {
  /** Shared by the publishers of a test, so that several instances write into one. */
  static final class Broker {
    final ConcurrentLinkedQueue<OutboxRow> arrived = new ConcurrentLinkedQueue<>();
    volatile Function<OutboxRow, @Nullable ParkedReason> refuses = row -> null;
    volatile Predicate<OutboxRow> owes = row -> false;

    /** Closes the channel on such a row; what went before it arrives and is not confirmed. */
    volatile Function<OutboxRow, @Nullable ParkedReason> closes = row -> null;

    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger batches = new AtomicInteger();

    /** What arrives is counted, not kept: more of it than memory is to hold. */
    volatile boolean counting;

    final AtomicInteger counted = new AtomicInteger();
    volatile boolean silent;
    volatile boolean down;

    /** What arrived, as text: key and body. */
    List<OutboxRow> rows() {
      return new ArrayList<>(arrived);
    }
  }

  private final Vertx vertx;
  private final Broker broker;

  FakePublisher(Vertx vertx, Broker broker) {
    this.vertx = vertx;
    this.broker = broker;
  }

  @Override
  public Future<PublishChannel> open(String name, TrustDeadline trust, Listener listener) {
    if (broker.down) {
      return Future.failedFuture(
          new FencepostException(FailureKind.BROKER_UNREACHABLE, "the broker is down"));
    }
    broker.opened.incrementAndGet();
    return Future.succeededFuture(new FakeChannel(listener));
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  private final class FakeChannel implements PublishChannel {
    private final Listener listener;
    private boolean open = true;

    FakeChannel(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void publish(List<OutboxRow> rows) {
      List<Verdict> verdicts = new ArrayList<>(rows.size());
      broker.batches.incrementAndGet();
      for (OutboxRow row : rows) {
        ParkedReason accusation = broker.closes.apply(row);
        if (accusation != null) {
          vertx.runOnContext(v -> close(accusation));
          return;
        }
        ParkedReason refusal = broker.refuses.apply(row);
        if (refusal == null && broker.counting) {
          broker.counted.incrementAndGet();
        } else if (refusal == null) {
          broker.arrived.add(row);
        }
        if (!broker.owes.test(row)) {
          verdicts.add(new Verdict(row.seq(), refusal, null));
        }
      }
      if (!broker.silent) {
        vertx.runOnContext(
            v -> {
              if (open) {
                listener.settled(verdicts);
              }
            });
      }
    }

    private void close(ParkedReason accusation) {
      if (open) {
        open = false;
        listener.closed(
            new FencepostException(FailureKind.CHANNEL_CLOSED, "closed by the broker"), accusation);
      }
    }

    @Override
    public Future<Void> close() {
      open = false;
      return Future.succeededFuture();
    }
  }
}
