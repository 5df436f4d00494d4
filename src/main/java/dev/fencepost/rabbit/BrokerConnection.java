package dev.fencepost.rabbit;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.model.FencepostException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** An open connection with what the broker told of itself. Usable from any thread. */
final class BrokerConnection {

  private static final int CLOSE_MILLIS = 3_000;

  private final Connection connection;
  private final CorkedFrameHandler handler;
  private final BrokerUri uri;
  private final BrokerFeatures features;
  private final AtomicReference<@Nullable FencepostException> killed = new AtomicReference<>();
  private volatile @Nullable String blockedReason;

  BrokerConnection(Connection connection, CorkedFrameHandler handler, BrokerUri uri) {
    this.connection = connection;
    this.handler = handler;
    this.uri = uri;
    this.features = BrokerFeatures.of(connection.getServerProperties());
    connection.addBlockedListener(reason -> blockedReason = reason, () -> blockedReason = null);
  }

  Connection amqp() {
    return connection;
  }

  BrokerUri uri() {
    return uri;
  }

  BrokerFeatures features() {
    return features;
  }

  boolean isOpen() {
    return connection.isOpen();
  }

  /** Why the broker takes no messages now, or null when it does. */
  @Nullable String blockedReason() {
    return blockedReason;
  }

  /** Holds back the flushes of this thread until {@link #uncork()}. */
  void cork() {
    handler.cork();
  }

  /** Frames of this thread are flushed after each command again; see {@link #flush()}. */
  void uncork() {
    handler.uncork();
  }

  void flush() throws IOException {
    handler.flush(null);
  }

  /** Ends the connection at once; its channels see {@code cause}. */
  void kill(FencepostException cause) {
    killed.compareAndSet(null, cause);
    handler.kill();
  }

  /** Closes with the broker; blocks for some seconds at most. */
  void close() {
    connection.abort(CLOSE_MILLIS);
    handler.kill();
  }

  /** Why a channel of this connection has gone. */
  FencepostException cause(ShutdownSignalException signal, String what) {
    FencepostException own = killed.get();
    return own != null && signal.isHardError()
        ? own
        : RabbitErrors.of(signal, what + " at " + uri.endpoint());
  }
}
