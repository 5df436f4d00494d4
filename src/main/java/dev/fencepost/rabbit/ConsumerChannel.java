package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One registration at the broker: a channel with its prefetch, a consumer, and the epoch that ends
 * with it. Its methods block and belong to the queue's own thread; what the broker says goes into
 * the inbox.
 */
final class ConsumerChannel {

  private static final Logger LOG = LoggerFactory.getLogger(ConsumerChannel.class);

  private final SharedConnections.Share share;
  private final Channel channel;
  private final long epoch;
  private @Nullable String consumerTag;
  private @Nullable Listening listening;

  /** What a registration tells, in the order of the broker's frames. */
  sealed interface Event {
    long epoch();

    record Registered(long epoch, ConsumerChannel channel) implements Event {}

    record Delivered(long epoch, Delivery delivery) implements Event {}

    /** The consumer has gone, by a cancel, a closure or a lost connection. */
    record Lost(long epoch, FencepostException cause) implements Event {}

    /** Our own cancel has been carried out: no more deliveries come. */
    record Cancelled(long epoch) implements Event {}
  }

  private ConsumerChannel(SharedConnections.Share share, Channel channel, long epoch) {
    this.share = share;
    this.channel = channel;
    this.epoch = epoch;
  }

  /** Opens, sets the prefetch and registers. */
  static void register(
      SharedConnections.Share share, QueueConfig config, long epoch, ContextInbox<Event> inbox)
      throws IOException {
    Channel channel = share.connection().amqp().createChannel();
    if (channel == null) {
      throw new IOException("the broker's channel limit is reached");
    }
    ConsumerChannel made = new ConsumerChannel(share, channel, epoch);
    // Not the consumer's own callback: that one waits for a dispatch thread.
    channel.addShutdownListener(
        signal ->
            inbox.post(
                new Event.Lost(
                    epoch,
                    share
                        .connection()
                        .cause(signal, "queue " + config.name() + ": consumer closed"))));
    try {
      channel.basicQos(config.intake().prefetch());
      made.consume(config, made.new Listening(config, inbox, true));
    } catch (IOException | RuntimeException e) {
      channel.abort();
      throw e;
    }
  }

  /** Registers anew with another prefetch on the same channel, so that tags and epoch stay. */
  void retune(QueueConfig config, ContextInbox<Event> inbox) {
    try {
      if (listening != null) {
        listening.replaced = true;
      }
      cancel();
      channel.basicQos(config.intake().prefetch());
      consume(config, new Listening(config, inbox, false));
    } catch (IOException | ShutdownSignalException e) {
      LOG.debug("epoch {} not retuned: {}", epoch, e.getMessage());
      abort(); // where the channel had not gone, it stood open without a consumer
    }
  }

  private void consume(QueueConfig config, Listening consumer) throws IOException {
    listening = consumer;
    consumerTag = channel.basicConsume(config.queue(), false, consumer);
  }

  SharedConnections.Share share() {
    return share;
  }

  Channel amqp() {
    return channel;
  }

  /** Sends acknowledgements; a channel that has gone takes its deliveries with it anyway. */
  void acknowledge(List<AckLedger.Ack> acks) {
    BrokerConnection connection = share.connection();
    connection.cork();
    try {
      for (AckLedger.Ack ack : acks) {
        channel.basicAck(ack.tag(), ack.multiple());
      }
      connection.uncork();
      connection.flush();
    } catch (IOException | ShutdownSignalException e) {
      LOG.debug("acknowledgements of epoch {} not sent: {}", epoch, e.getMessage());
    } finally {
      connection.uncork();
    }
  }

  /** Closes it, whatever state it is in. */
  void abort() {
    try {
      channel.abort();
    } catch (IOException e) {
      LOG.debug("epoch {} not closed: {}", epoch, e.getMessage());
    }
  }

  /** Asks the broker for no more deliveries. */
  void cancel() throws IOException {
    if (consumerTag != null) {
      channel.basicCancel(consumerTag);
    }
  }

  /** Called on the client's dispatch threads, one call at a time. */
  private final class Listening extends DefaultConsumer {
    private final QueueConfig config;
    private final ContextInbox<Event> inbox;
    private final DeliveryDecoder decoder;
    private final boolean announced;
    private volatile boolean replaced;

    /**
     * @param announced whether it begins an epoch
     */
    Listening(QueueConfig config, ContextInbox<Event> inbox, boolean announced) {
      super(channel);
      this.config = config;
      this.inbox = inbox;
      this.decoder = new DeliveryDecoder(config.name());
      this.announced = announced;
    }

    @Override
    public void handleConsumeOk(String tag) {
      if (announced) {
        inbox.post(new Event.Registered(epoch, ConsumerChannel.this));
      }
    }

    @Override
    public void handleDelivery(
        String tag, Envelope envelope, BasicProperties properties, byte[] body) {
      inbox.post(new Event.Delivered(epoch, decoder.decode(epoch, envelope, properties, body)));
    }

    @Override
    public void handleCancel(String tag) {
      inbox.post(
          new Event.Lost(
              epoch,
              new FencepostException(
                  FailureKind.BROKER_NOT_FOUND,
                  "queue "
                      + config.name()
                      + ": the broker cancelled the consumer of '"
                      + config.queue()
                      + "': the queue was deleted or its node has gone")));
    }

    @Override
    public void handleCancelOk(String tag) {
      if (!replaced) {
        inbox.post(new Event.Cancelled(epoch));
      }
    }
  }
}
