package dev.fencepost.rabbit;

import com.rabbitmq.client.Channel;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Ends a channel on its own thread, behind what was handed to it before. A channel that cannot be
 * closed in time hangs with its connection, which is then cut; unless the broker blocks it: then
 * the closure waits in the background, so that neighbours are not thrown off for nothing.
 */
record ChannelCloser(BrokerThreads threads, SharedConnections.Share share, ExecutorService thread) {

  private static final long DEADLINE_MILLIS = 5_000;

  /**
   * @param writer of the channel, when it has one that may hang
   * @return completes within some seconds, on {@code context}
   */
  Future<Void> close(Context context, Channel channel, @Nullable BatchWriter writer) {
    BrokerConnection connection = share.connection();
    Promise<Void> done = Promise.promise();
    Runnable inTime =
        threads.after(
            DEADLINE_MILLIS,
            () -> {
              boolean hangs = writer != null && writer.writingSince() != 0;
              if (hangs || connection.blockedReason() == null) {
                connection.kill(overdue());
              }
              BrokerThreads.onContext(context, () -> done.tryComplete());
            });
    thread.execute(
        () -> {
          try {
            channel.abort();
          } catch (Exception e) {
            // it has gone already
          } finally {
            inTime.run();
            share.release();
            BrokerThreads.onContext(context, () -> done.tryComplete());
          }
        });
    return done.future();
  }

  private static FencepostException overdue() {
    return new FencepostException(
        FailureKind.TIMEOUT,
        "connection cut: a channel could not be closed within " + DEADLINE_MILLIS + " ms");
  }
}
