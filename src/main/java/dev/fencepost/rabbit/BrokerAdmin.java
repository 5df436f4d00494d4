package dev.fencepost.rabbit;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.concurrent.Callable;

/** Small questions to the broker for status and health, over a connection while one is asked. */
public final class BrokerAdmin {

  private static final String NAME = "fencepost-admin";

  private final Vertx vertx;
  private final BrokerThreads threads;
  private final SharedConnections connections;

  /**
   * @param ready messages that nobody has taken
   * @param consumers of all processes
   */
  public record Depth(long ready, int consumers) {}

  /** Who answers. */
  public record Identity(String product, String version) {}

  BrokerAdmin(Vertx vertx, BrokerThreads threads, BrokerConnector connector) {
    this.vertx = vertx;
    this.threads = threads;
    this.connections = new SharedConnections(connector, threads, NAME, Integer.MAX_VALUE);
  }

  /**
   * @param queue the AMQP queue
   * @return fails with kind BROKER_NOT_FOUND when there is none
   */
  public Future<Depth> depth(String queue) {
    return ask(
        connection -> {
          Channel channel = connection.amqp().createChannel();
          if (channel == null) {
            throw new IOException("the broker's channel limit is reached");
          }
          try {
            AMQP.Queue.DeclareOk found = channel.queueDeclarePassive(queue);
            return new Depth(found.getMessageCount(), found.getConsumerCount());
          } finally {
            channel.abort();
          }
        },
        "queue '" + queue + "'");
  }

  /**
   * Logs in and out.
   *
   * @return fails with a BROKER_… kind and one clear line when that is not possible
   */
  public Future<Identity> identity() {
    return ask(
        connection ->
            new Identity(connection.features().product(), connection.features().version()),
        "broker");
  }

  /** Closes its connection. */
  public Future<Void> close() {
    return connections.close(vertx.getOrCreateContext());
  }

  private interface Question<T> {
    T to(BrokerConnection connection) throws Exception;
  }

  private <T> Future<T> ask(Question<T> question, String what) {
    Context context = vertx.getOrCreateContext();
    return connections
        .acquire(context, false)
        .compose(
            share -> {
              Callable<T> work = () -> question.to(share.connection());
              return BrokerThreads.call(context, threads.blocking(), work)
                  .recover(e -> Future.failedFuture(RabbitErrors.of(e, what)))
                  .onComplete(
                      done -> {
                        if (FencepostException.is(done.cause(), FailureKind.TIMEOUT)) {
                          share.retire();
                        }
                        share.release();
                      });
            });
  }
}
