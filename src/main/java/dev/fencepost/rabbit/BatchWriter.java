package dev.fencepost.rabbit;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher.TrustDeadline;
import dev.fencepost.relay.Publisher.Verdict;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes batches to one channel, on the channel's own thread. Flushes are held back over a batch;
 * the trust deadline is read before each message and again before the flush, so that what leaves
 * the process never leaves later than a deadline that has just been looked at.
 */
final class BatchWriter {

  private static final long HANGING_NANOS = 500_000_000L;

  private final BrokerConnection connection;
  private final Channel channel;
  private final TrustDeadline trust;
  private final Consumer<ConfirmWire.Event> events;
  private volatile boolean stopped;
  private volatile long writingSince;
  private volatile Runnable onWriting = () -> {};

  /**
   * @param events told when it can write no more, and which message it could not write
   */
  BatchWriter(
      BrokerConnection connection,
      Channel channel,
      TrustDeadline trust,
      Consumer<ConfirmWire.Event> events) {
    this.connection = connection;
    this.channel = channel;
    this.trust = trust;
    this.events = events;
  }

  /** Writes nothing more. From any thread. */
  void stop() {
    stopped = true;
  }

  /** Told when a batch begins to be written, on the thread that writes it. */
  void onWriting(Runnable told) {
    onWriting = told;
  }

  /** Since when ({@link System#nanoTime()}) one write has been going on, or 0. */
  long writingSince() {
    return writingSince;
  }

  /** Whether one write has taken so long that it is the peer that does not read. */
  boolean hangs(long now) {
    long since = writingSince;
    return since != 0 && now - since > HANGING_NANOS;
  }

  boolean trusted(long now) {
    return now - trust.nanoTime() < 0;
  }

  void write(List<Outgoing> batch) {
    connection.cork();
    boolean buffered = false;
    try {
      writingSince = nonZero(System.nanoTime());
      onWriting.run();
      for (Outgoing message : batch) {
        if (stopped) {
          break;
        }
        if (!mayWrite(buffered)) {
          return;
        }
        write(message);
        buffered = true;
      }
      if (buffered && mayWrite(true)) {
        connection.uncork();
        connection.flush();
      }
    } catch (IOException | RuntimeException | Error e) { // whoever waits must hear of it
      stopped = true;
      events.accept(trusted(System.nanoTime()) ? ended(e) : lost());
    } finally {
      writingSince = 0;
      connection.uncork();
    }
  }

  private void write(Outgoing message) throws IOException {
    message.writtenAt = writingSince;
    try {
      channel.basicPublish(
          message.route.exchange(),
          message.route.routingKey(),
          message.mandatory,
          message.properties,
          message.body);
    } catch (ShutdownSignalException closed) {
      throw closed;
    } catch (RuntimeException | StackOverflowError e) {
      // The client makes its frames before it writes the first: the row itself is to blame.
      String detail = "cannot be written: " + e;
      events.accept(
          new ConfirmWire.Event.Refused(
              new Verdict(message.id, ParkedReason.INVALID_PROPERTY, detail)));
      throw e;
    }
  }

  /** A closure by the broker may be met here before its listener is called. */
  private static ConfirmWire.Event ended(Throwable e) {
    return new ConfirmWire.Event.Closed(
        RabbitErrors.of(e, "publishing channel"), RabbitErrors.replyCode(e));
  }

  private static long nonZero(long nanos) {
    return nanos == 0 ? 1 : nanos;
  }

  /** Past the deadline what is still buffered must not leave: the connection is cut. */
  private boolean mayWrite(boolean buffered) {
    long now = System.nanoTime();
    writingSince = nonZero(now);
    if (trusted(now)) {
      return true;
    }
    stopped = true;
    events.accept(lost());
    if (buffered) {
      connection.kill(
          new FencepostException(
              FailureKind.CHANNEL_CLOSED,
              "connection cut: the lease of a lane that shares it ran out"));
    }
    return false;
  }

  private static ConfirmWire.Event lost() {
    return new ConfirmWire.Event.Closed(
        new FencepostException(
            FailureKind.LEASE_LOST,
            "publishing stopped: the lease could not be trusted any longer"),
        0);
  }
}
