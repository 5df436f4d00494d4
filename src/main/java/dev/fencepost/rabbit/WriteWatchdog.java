package dev.fencepost.rabbit;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Cuts connections on which a write hangs, from a thread of its own: a writer that hangs in a
 * socket cannot do it, and the event loop must not wait. While the broker says that it blocks, a
 * hanging write is expected and stays until the lease can no longer be trusted.
 */
final class WriteWatchdog {

  private static final long PERIOD_MILLIS = 100;

  private final long limitNanos;
  private final Map<BatchWriter, BrokerConnection> watched = new ConcurrentHashMap<>();

  /**
   * @param limit how long one write may take
   */
  WriteWatchdog(BrokerThreads threads, Duration limit) {
    this.limitNanos = limit.toNanos();
    threads.every(PERIOD_MILLIS, this::look);
  }

  void watch(BatchWriter writer, BrokerConnection connection) {
    watched.put(writer, connection);
  }

  void forget(BatchWriter writer) {
    watched.remove(writer);
  }

  private void look() {
    long now = System.nanoTime();
    watched.forEach((writer, connection) -> look(writer, connection, now));
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
