package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import dev.fencepost.config.QueueConfig;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Declares what a queue's configuration says. Declaring is idempotent as long as nobody has
 * declared the same name otherwise; then it refuses, since what the broker would do with the queue
 * is not what the configuration promises. Blocks: for a channel's own thread.
 */
final class Topology {

  private final BrokerConnection connection;
  private final QueueConfig config;

  Topology(BrokerConnection connection, QueueConfig config) {
    this.connection = connection;
    this.config = config;
  }

  /**
   * @throws FencepostException of kind CONFIGURATION when something exists and differs
   */
  void declare(QueueConfig.Declare declare) throws IOException {
    for (QueueConfig.Binding binding : declare.bind()) {
      if (isOurs(binding.exchange())) {
        step(
            "exchange '" + binding.exchange() + "' of type " + binding.exchangeType(),
            channel -> channel.exchangeDeclare(binding.exchange(), binding.exchangeType(), true));
      }
    }
    step(
        "queue '" + config.queue() + "' of type " + declare.type(),
        channel ->
            channel.queueDeclare(config.queue(), true, false, false, arguments(declare.type())));
    for (QueueConfig.Binding binding : declare.bind()) {
      if (!binding.exchange().isEmpty()) {
        step(
            "binding of queue '" + config.queue() + "' to '" + binding.exchange() + "'",
            channel -> channel.queueBind(config.queue(), binding.exchange(), binding.routingKey()));
      }
    }
  }

  /** The queue's arguments on this broker; one that is not RabbitMQ knows none of them. */
  Map<String, Object> arguments(String type) {
    Map<String, Object> arguments = new HashMap<>();
    if (!connection.features().isRabbit()) {
      return arguments;
    }
    arguments.put("x-queue-type", type);
    if (type.equals("quorum") && connection.features().rabbitAtLeast(4, 0)) {
      // From 4.0 on the default is 20, after which the broker drops the message.
      arguments.put("x-delivery-limit", -1);
    }
    if (config.intake().ordering() == QueueConfig.Ordering.KEY) {
      arguments.put("x-single-active-consumer", true);
    }
    return arguments;
  }

  /** Predeclared exchanges may not be declared by users. */
  private static boolean isOurs(String exchange) {
    return !exchange.isEmpty() && !exchange.startsWith("amq.");
  }

  private interface Declaration {
    void on(Channel channel) throws IOException;
  }

  private void step(String what, Declaration declaration) throws IOException {
    Channel channel = connection.amqp().createChannel();
    if (channel == null) {
      throw new IOException("the broker's channel limit is reached");
    }
    try {
      declaration.on(channel);
    } catch (IOException e) {
      if (e.getCause() instanceof ShutdownSignalException signal) {
        throw refusal(what, signal);
      }
      throw e;
    } finally {
      channel.abort();
    }
  }

  private FencepostException refusal(String what, ShutdownSignalException signal) {
    RabbitErrors.Reply reply = RabbitErrors.reply(signal);
    if (reply.code() == AMQP.PRECONDITION_FAILED) {
      return new FencepostException(
          FailureKind.CONFIGURATION,
          "queue "
              + config.name()
              + ": "
              + what
              + " exists with other settings ("
              + reply.text()
              + "); change queues."
              + config.name()
              + ".declare to what exists, leave it out to use the queue as it is, or delete what"
              + " exists",
          signal);
    }
    return RabbitErrors.of(signal, "queue " + config.name() + ": cannot declare " + what);
  }
}
