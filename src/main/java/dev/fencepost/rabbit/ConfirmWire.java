package dev.fencepost.rabbit;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.model.FencepostException;
import dev.fencepost.relay.Publisher.TrustDeadline;
import dev.fencepost.relay.Publisher.Verdict;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What exists of a confirming channel once the broker has opened it, and what it tells. */
record ConfirmWire(
    BrokerConnection connection, Channel channel, BatchWriter writer, BlockedListener blocked) {

  /** In the order of the broker's frames, but for {@link Refused}, which is our own. */
  sealed interface Event {
    record Answer(long sequence, boolean multiple, boolean ack) implements Event {}

    record Returned(String messageId, String detail) implements Event {}

    /**
     * @param reason null: no longer
     */
    record Blocked(@Nullable String reason) implements Event {}

    record Refused(Verdict verdict) implements Event {}

    /**
     * @param replyCode 0 when the broker gave none
     */
    record Closed(FencepostException cause, int replyCode) implements Event {}
  }

  /** Blocks: for the channel's own thread. */
  static ConfirmWire open(BrokerConnection connection, TrustDeadline trust, Consumer<Event> events)
      throws IOException {
    Channel channel = connection.amqp().createChannel();
    if (channel == null) {
      throw new IOException("the broker's channel limit is reached");
    }
    try {
      channel.confirmSelect();
    } catch (IOException | RuntimeException e) {
      channel.abort();
      throw e;
    }
    channel.addConfirmListener(
        (sequence, multiple) -> events.accept(new Event.Answer(sequence, multiple, true)),
        (sequence, multiple) -> events.accept(new Event.Answer(sequence, multiple, false)));
    channel.addReturnListener(message -> events.accept(returned(message)));
    BatchWriter writer = new BatchWriter(connection, channel, trust, events);
    BlockedListener blocked = new Blocking(events);
    connection.amqp().addBlockedListener(blocked);
    String reason = connection.blockedReason();
    if (reason != null) {
      blocked.handleBlocked(reason);
    }
    channel.addShutdownListener(signal -> events.accept(closed(connection, signal)));
    return new ConfirmWire(connection, channel, writer, blocked);
  }

  /** Writes nothing more and hears nothing more of the connection. */
  void detach() {
    writer.stop();
    connection.amqp().removeBlockedListener(blocked);
  }

  private static Event returned(Return message) {
    return new Event.Returned(
        String.valueOf(message.getProperties().getMessageId()),
        message.getReplyCode() + " " + message.getReplyText());
  }

  private static Event closed(BrokerConnection connection, ShutdownSignalException signal) {
    return new Event.Closed(
        connection.cause(signal, "publishing channel closed"), RabbitErrors.reply(signal).code());
  }

  private record Blocking(Consumer<Event> events) implements BlockedListener {
    @Override
    public void handleBlocked(String reason) {
      events.accept(new Event.Blocked(reason));
    }

    @Override
    public void handleUnblocked() {
      events.accept(new Event.Blocked(null));
    }
  }
}
