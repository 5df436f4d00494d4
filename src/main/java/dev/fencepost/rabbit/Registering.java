package dev.fencepost.rabbit;

import dev.fencepost.config.QueueConfig;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.ExecutorService;

/** The steps of a registration: declare, look at the broker's contract, consume. */
record Registering(Context context, ContractCheck contract, ExecutorService thread) {

  private interface Step {
    void run() throws Exception;
  }

  /** A failure gives the share back; success is told through the inbox. */
  Future<Void> register(
      SharedConnections.Share share,
      QueueConfig config,
      long epoch,
      ContextInbox<ConsumerChannel.Event> inbox) {
    BrokerConnection connection = share.connection();
    return onThread(() -> declare(connection, config))
        .compose(declared -> contract.check(connection, config))
        .compose(safe -> onThread(() -> ConsumerChannel.register(share, config, epoch, inbox)))
        .recover(e -> share.abandon(RabbitErrors.of(e, "queue " + config.name())));
  }

  private static void declare(BrokerConnection connection, QueueConfig config) throws Exception {
    QueueConfig.Declare declare = config.declare();
    if (declare != null) {
      new Topology(connection, config).declare(declare);
    }
  }

  private Future<Void> onThread(Step step) {
    return BrokerThreads.call(
        context,
        thread,
        () -> {
          step.run();
          return null;
        });
  }
}
