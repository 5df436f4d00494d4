package dev.fencepost.rabbit;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Consumer;
import com.rabbitmq.client.impl.ForgivingExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lost connections are told by shutdown listeners and are no errors here; our callbacks only post
 * events, so that what they throw is a fault of ours.
 */
final class ClientFaults extends ForgivingExceptionHandler {

  private static final Logger LOG = LoggerFactory.getLogger(ClientFaults.class);

  @Override
  public void handleUnexpectedConnectionDriverException(Connection connection, Throwable cause) {
    LOG.debug("connection {} lost: {}", connection, String.valueOf(cause));
  }

  @Override
  public void handleConsumerException(
      Channel channel, Throwable cause, Consumer consumer, String tag, String method) {
    LOG.error("consumer callback {} failed", method, cause);
  }

  @Override
  protected void log(String message, Throwable cause) {
    LOG.warn("{}: {}", message, String.valueOf(cause));
  }
}
