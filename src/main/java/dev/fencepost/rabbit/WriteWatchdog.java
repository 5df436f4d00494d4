package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Cuts connections on which a write hangs, from a thread of its own: a writer that hangs in a
 * socket cannot do it, and the event loop must not wait. While the broker says that it blocks, a
 * hanging write is expected and stays until the lease can no longer be trusted. Looks only while
 * something is being written.
 */
final class WriteWatchdog {

  private static final long PERIOD_MILLIS = 100;

  private final BrokerThreads threads;
  private final long limitNanos;
  private final AtomicBoolean looking = new AtomicBoolean();
  private final Map<BatchWriter, BrokerConnection> watched = new ConcurrentHashMap<>();

  /**
   * @param limit how long one write may take
   */
  WriteWatchdog(BrokerThreads threads, Duration limit) {
    this.threads = threads;
    this.limitNanos = limit.toNanos();
  }

  void watch(BatchWriter writer, BrokerConnection connection) {
    watched.put(writer, connection);
    writer.onWriting(this::goOn);
    goOn(); // if it has begun
  }

  void forget(BatchWriter writer) {
    watched.remove(writer);
  }

  private void goOn() {
    if (!looking.get() && looking.compareAndSet(false, true)) {
      threads.after(PERIOD_MILLIS, this::look);
    }
  }

  private void look() {
    try {
      long now = System.nanoTime();
      watched.forEach((writer, connection) -> look(writer, connection, now));
    } finally {
      looking.set(false);
      // A write that began before this line found a look under way.
      if (watched.keySet().stream().anyMatch(writer -> writer.writingSince() != 0)) {
        goOn();
      }
    }
  }

  private void look(BatchWriter writer, BrokerConnection connection, long now) {
    long since = writer.writingSince();
    if (since == 0) {
      return;
    }
    boolean hangs = now - since > limitNanos && connection.blockedReason() == null;
    // A write that has just begun may be over in a moment.
    boolean distrusted =
        !writer.trusted(now) && now - since > TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
    if (hangs || distrusted) {
      connection.kill(
          new FencepostException(
              FailureKind.TIMEOUT,
              "connection to "
                  + connection.uri().endpoint()
                  + " cut: a write hung for "
                  + TimeUnit.NANOSECONDS.toMillis(now - since)
                  + " ms"));
    }
  }
}
