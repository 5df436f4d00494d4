package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Connections of one role, each shared by a few channels, opened when a channel needs one and
 * closed when its last channel has gone. All state lives on one thread of its own, which is also
 * the only one that connects: requests that waited for an attempt share its outcome.
 */
final class SharedConnections {

  private static final long CLOSE_MILLIS = 5_000;

  private final BrokerConnector connector;
  private final BrokerThreads threads;
  private final String name;
  private final int channelsEach;
  private final ExecutorService control;
  private final List<Slot> slots = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean connected;
  private int opened;
  private @Nullable FencepostException lastFailure;
  private long lastFailureAt;

  /**
   * @param name of its connections, such as {@code fencepost-relay}
   * @param channelsEach how many channels share one
   */
  SharedConnections(
      BrokerConnector connector, BrokerThreads threads, String name, int channelsEach) {
    this.connector = connector;
    this.threads = threads;
    this.name = name;
    this.channelsEach = channelsEach;
    this.control = BrokerThreads.serial(name + "-connect");
  }

  /** A channel's share of a connection, given back once. */
  final class Share {
    private final Slot slot;
    private final AtomicBoolean released = new AtomicBoolean();

    private Share(Slot slot) {
      this.slot = slot;
    }

    BrokerConnection connection() {
      return slot.connection;
    }

    /**
     * Gives it back because it was of no use: a connection that did not answer is cut, so that
     * nobody gets it again. One that is blocked does not answer either, and is well.
     */
    <T> Future<T> abandon(FencepostException cause) {
      if (cause.kind() == FailureKind.TIMEOUT && slot.connection.blockedReason() == null) {
        slot.connection.kill(cause);
      }
      release();
      return Future.failedFuture(cause);
    }

    /** Gives the connection to no further channel: it has become doubtful. */
    void retire() {
      submit(() -> slot.retired = true);
    }

    void release() {
      if (released.compareAndSet(false, true)) {
        submit(() -> give(slot));
      }
    }
  }

  private static final class Slot {
    private final BrokerConnection connection;
    private final boolean alone;
    private int channels;
    private boolean retired;

    private Slot(BrokerConnection connection, boolean alone) {
      this.connection = connection;
      this.alone = alone;
    }

    /** A blocked broker does not even open a channel. */
    private boolean takes(int limit) {
      return !alone && !retired && channels < limit && connection.blockedReason() == null;
    }
  }

  /**
   * @param alone whether the channel must not share its connection
   * @return a share, on {@code context}; fails with a {@link FencepostException}
   */
  Future<Share> acquire(Context context, boolean alone) {
    long asked = System.nanoTime();
    return BrokerThreads.call(context, control, () -> new Share(take(asked, alone)))
        .recover(
            e ->
                Future.failedFuture(
                    closed.get()
                        ? new FencepostException(FailureKind.CHANNEL_CLOSED, name + " is closed")
                        : e));
  }

  /** Whether one of the connections is open. */
  boolean connected() {
    return connected;
  }

  /** Closes all of them. */
  Future<Void> close(Context context) {
    if (!closed.compareAndSet(false, true)) {
      return Future.succeededFuture();
    }
    return BrokerThreads.call(
        context,
        control,
        () -> {
          slots.forEach(slot -> closeInTime(slot.connection));
          slots.clear();
          connected = false;
          control.shutdown();
          return null;
        });
  }

  private Slot take(long asked, boolean alone) {
    if (closed.get()) {
      throw new FencepostException(FailureKind.CHANNEL_CLOSED, name + " is closed");
    }
    slots.removeIf(slot -> !slot.connection.isOpen());
    for (Slot slot : slots) {
      if (!alone && slot.takes(channelsEach)) {
        slot.channels++;
        return slot;
      }
    }
    if (lastFailure != null && lastFailureAt - asked > 0) {
      throw lastFailure;
    }
    Slot slot = new Slot(connect(), alone);
    slot.channels = 1;
    slots.add(slot);
    return slot;
  }

  private BrokerConnection connect() {
    try {
      BrokerConnection connection = connector.connect(name + "-" + ++opened);
      connected = true;
      connection
          .amqp()
          .addShutdownListener(
              signal ->
                  submit(
                      () -> {
                        slots.removeIf(slot -> !slot.connection.isOpen());
                        connected = !slots.isEmpty();
                      }));
      return connection;
    } catch (FencepostException e) {
      lastFailure = e;
      lastFailureAt = System.nanoTime();
      throw e;
    }
  }

  private void give(Slot slot) {
    slot.channels--;
    if (slot.channels == 0) {
      slots.remove(slot);
      connected = !slots.isEmpty();
      threads.run(() -> closeInTime(slot.connection));
    }
  }

  /** A writer that hangs in it holds up even the farewell. */
  private void closeInTime(BrokerConnection connection) {
    Runnable inTime =
        threads.after(
            CLOSE_MILLIS,
            () ->
                connection.kill(
                    new FencepostException(
                        FailureKind.TIMEOUT,
                        "connection cut: it could not be closed within " + CLOSE_MILLIS + " ms")));
    connection.close();
    inTime.run();
  }

  private void submit(Runnable task) {
    try {
      control.execute(task);
    } catch (RejectedExecutionException e) {
      // closed: its connections have been closed as well
    }
  }
}
