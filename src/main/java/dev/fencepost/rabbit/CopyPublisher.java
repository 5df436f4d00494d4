package dev.fencepost.rabbit;

import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher;
import dev.fencepost.relay.Publisher.Verdict;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Publishes copies of dead letters, confirmed, over one channel that is opened when the first is
 * asked for. Confined to a context of its own; callers may come from any.
 */
final class CopyPublisher implements Publisher.Listener {

  private static final String NAME = "fencepost-worker-copies";
  private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(10);
  private static final long FOREVER = Duration.ofDays(365).toNanos();

  private final Vertx vertx;
  private final Context context;
  private final SharedConnections connections;
  private final ConfirmChannel.ChannelEnvironment environment;
  private final Map<Long, Promise<Void>> unconfirmed = new HashMap<>();
  private @Nullable Future<ConfirmChannel> channel;
  private long copies;

  CopyPublisher(Vertx vertx, BrokerThreads threads, BrokerConnector connector) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.connections = new SharedConnections(connector, threads, NAME, 1);
    this.environment =
        new ConfirmChannel.ChannelEnvironment(
            vertx, context, threads, new WriteWatchdog(threads, CONFIRM_TIMEOUT), CONFIRM_TIMEOUT);
  }

  /**
   * @return completes on the caller's context once the broker has confirmed; a copy that is routed
   *     nowhere is confirmed too
   */
  Future<Void> publish(String exchange, Delivery.Envelope message) {
    Context caller = vertx.getOrCreateContext();
    Promise<Void> answer = Promise.promise();
    BrokerThreads.onContext(
        context,
        () ->
            send(exchange, message)
                .onComplete(
                    sent ->
                        BrokerThreads.onContext(
                            caller,
                            () -> {
                              if (sent.succeeded()) {
                                answer.complete();
                              } else {
                                answer.fail(sent.cause());
                              }
                            })));
    return answer.future();
  }

  Future<Void> close() {
    return connections.close(vertx.getOrCreateContext());
  }

  private Future<Void> send(String exchange, Delivery.Envelope message) {
    return channel()
        .compose(
            open -> {
              Promise<Void> confirm = Promise.promise();
              long id = ++copies;
              unconfirmed.put(id, confirm);
              open.publish(List.of(CopyMessage.of(id, exchange, message)));
              return confirm.future();
            });
  }

  private Future<ConfirmChannel> channel() {
    Future<ConfirmChannel> present = channel;
    if (present == null) {
      present =
          connections
              .acquire(context, true)
              .compose(
                  share ->
                      ConfirmChannel.open(
                          environment, "copies", share, () -> System.nanoTime() + FOREVER, this));
      channel = present;
      present.onFailure(e -> channel = null);
    }
    return present;
  }

  @Override
  public void settled(List<Verdict> verdicts) {
    for (Verdict verdict : verdicts) {
      Promise<Void> confirm = unconfirmed.remove(verdict.seq());
      if (confirm == null) {
        continue;
      }
      if (verdict.refusal() == null) {
        confirm.complete();
      } else {
        confirm.fail(
            new FencepostException(
                FailureKind.BROKER_BLOCKED, "copy refused: " + verdict.detail()));
      }
    }
  }

  @Override
  public void blocked(boolean blocked, String reason) {
    // The confirms come when the broker takes messages again.
  }

  @Override
  public void closed(FencepostException cause, @Nullable ParkedReason refusal) {
    channel = null;
    List<Promise<Void>> lost = List.copyOf(unconfirmed.values());
    unconfirmed.clear();
    lost.forEach(each -> each.fail(cause));
  }
}
