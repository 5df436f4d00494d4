package dev.fencepost.rabbit;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.relay.Publisher;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;

/**
 * Publishes outbox rows over shared connections, a channel and a writing thread for each opener.
 * Channels whose name starts with {@code quarantine} do not share their connection: what a suspect
 * does to it accuses no neighbour.
 */
public final class RabbitPublisher implements Publisher {

  /** Few enough that one bad connection stalls few lanes, enough that a process needs few. */
  private static final int CHANNELS_PER_CONNECTION = 4;

  private static final String NAME = "fencepost-relay";

  private final Vertx vertx;
  private final BrokerThreads threads;
  private final SharedConnections connections;
  private final WriteWatchdog watchdog;
  private final FencepostConfig.Relay.Limits limits;

  RabbitPublisher(
      Vertx vertx,
      BrokerThreads threads,
      BrokerConnector connector,
      FencepostConfig.Relay.Limits limits) {
    this.vertx = vertx;
    this.threads = threads;
    this.limits = limits;
    this.connections = new SharedConnections(connector, threads, NAME, CHANNELS_PER_CONNECTION);
    this.watchdog = new WriteWatchdog(threads, limits.confirmTimeout());
  }

  @Override
  public Future<PublishChannel> open(String name, TrustDeadline trust, Listener listener) {
    Context context = vertx.getOrCreateContext();
    ConfirmChannel.ChannelEnvironment environment =
        new ConfirmChannel.ChannelEnvironment(
            vertx, context, threads, watchdog, limits.confirmTimeout());
    return connections
        .acquire(context, name.startsWith("quarantine"))
        .compose(share -> ConfirmChannel.open(environment, name, share, trust, listener))
        .map(channel -> new RowChannel(channel, limits.maxMessageSize()));
  }

  /** Whether a connection to the broker is open now. */
  public boolean connected() {
    return connections.connected();
  }

  @Override
  public Future<Void> close() {
    return connections.close(vertx.getOrCreateContext());
  }

  private static final class RowChannel implements PublishChannel {

    private final ConfirmChannel channel;
    private final RowEncoder encoder;

    RowChannel(ConfirmChannel channel, long maxMessageSize) {
      this.channel = channel;
      this.encoder = new RowEncoder(maxMessageSize, channel.connection().amqp().getFrameMax());
    }

    @Override
    public void publish(List<OutboxRow> rows) {
      List<Outgoing> batch = new ArrayList<>(rows.size());
      for (OutboxRow row : rows) {
        try {
          batch.add(encoder.encode(row));
        } catch (RefusedRow refused) {
          channel.refuse(new Verdict(row.seq(), refused.reason(), refused.detail()));
        }
      }
      channel.publish(batch);
    }

    @Override
    public Future<Void> close() {
      return channel.close();
    }
  }
}
