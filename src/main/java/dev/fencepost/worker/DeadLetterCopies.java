package dev.fencepost.worker;

import dev.fencepost.model.Delivery;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a copy of each dead letter to the queue's exchange, whoever wrote it: a run, the sweep, the
 * limits at a start, an operator. Reads them back from the database after their commit, so that no
 * death in between loses a copy; one that dies between broker and database repeats it.
 */
final class DeadLetterCopies {
  private static final Logger LOG = LoggerFactory.getLogger(DeadLetterCopies.class);
  private static final int PAGE = 50;
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** The row is the dead letter; a copy is of use to those who listen now. */
  static final Duration GIVE_UP_AFTER = Duration.ofDays(1);

  /** Header that says why, as RabbitMQ's own dead letters have x-death. */
  static final String REASON_HEADER = "fencepost-reason";

  private final WorkerEnv env;
  private final QueueLoop loop;
  private final Beat beat;
  private boolean more;

  DeadLetterCopies(WorkerEnv env, QueueLoop loop, Beat beat) {
    this.env = env;
    this.loop = loop;
    this.beat = beat;
  }

  /** Until the next look for those that others wrote. */
  Duration pause() {
    return more ? Duration.ofMillis(1) : beat.pause();
  }

  Future<Void> tick() {
    more = false;
    String exchange = loop.config().deadLetterExchange();
    if (exchange == null) {
      return Future.succeededFuture();
    }
    return env.store()
        .uncopied(loop.name(), LEASE, GIVE_UP_AFTER, PAGE)
        .compose(page -> page.isEmpty() ? Future.succeededFuture() : send(exchange, page));
  }

  private Future<Void> send(String exchange, List<ActivityStore.Uncopied> page) {
    more = page.size() == PAGE;
    List<Long> sent = new ArrayList<>(page.size());
    List<Future<?>> sending = new ArrayList<>(page.size());
    for (ActivityStore.Uncopied dead : page) {
      sending.add(
          Guarded.call(() -> env.ports().deliveries().publishCopy(exchange, copy(dead)))
              .onSuccess(done -> sent.add(dead.id())));
    }
    return Future.join(sending)
        .onFailure(
            cause ->
                LOG.warn(
                    "queue={} {} of {} copies of dead letters to {} have to wait: {}",
                    loop.name(),
                    page.size() - sent.size(),
                    page.size(),
                    exchange,
                    cause.toString()))
        .transform(done -> sent.isEmpty() ? Future.succeededFuture() : env.store().copied(sent));
  }

  private static Delivery.Envelope copy(ActivityStore.Uncopied dead) {
    Delivery.Envelope message = dead.envelope();
    Map<String, Object> headers = new LinkedHashMap<>(message.headers());
    headers.put(REASON_HEADER, dead.reason().wire());
    return new Delivery.Envelope(
        message.exchange(),
        message.routingKey(),
        message.properties(),
        headers,
        message.body(),
        null);
  }
}
