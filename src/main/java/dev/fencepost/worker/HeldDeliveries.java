package dev.fencepost.worker;

import io.vertx.core.Future;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deliveries of activities that run elsewhere. They hold no slot; for a short remainder they stay
 * unacknowledged and ask again, for a long one their message is kept in the activity's row and
 * acknowledged, far from the broker's consumer timeout. From there the sweep goes on.
 */
final class HeldDeliveries {
  private static final Logger LOG = LoggerFactory.getLogger(HeldDeliveries.class);
  private static final Duration SHORT = Duration.ofSeconds(5);
  private static final Duration AFTER_EXPIRY = Duration.ofMillis(20);
  private static final Duration ASK_AGAIN = Duration.ofMillis(500);

  private final WorkerEnv env;
  private final Duration longest;

  HeldDeliveries(WorkerEnv env, Duration consumerTimeout) {
    this.env = env;
    Duration part = consumerTimeout.dividedBy(10);
    this.longest = part.compareTo(SHORT) < 0 ? part : SHORT;
  }

  void hold(Job job, Duration remaining) {
    QueueLoop loop = job.lane.loop();
    if (remaining.compareTo(longest) <= 0) {
      loop.wait(job, remaining.plus(AFTER_EXPIRY));
      return;
    }
    loop.gates().leave(job);
    keep(job);
  }

  /** The recovery decision of a delivery: stored, or to be asked for again. */
  void decided(Job job, Future<Boolean> decision) {
    decision.onComplete(
        done -> {
          if (done.succeeded() && done.result()) {
            job.lane.loop().end(job);
          } else {
            if (done.failed()) {
              LOG.warn("{} could not be recovered: {}", job.id, done.cause().toString());
            }
            keep(job); // the sweep decides when it can be decided
          }
        });
  }

  private void keep(Job job) {
    QueueLoop loop = job.lane.loop();
    Persistently.ask(env.timers(), () -> env.store().keepBody(job.id, job.envelope))
        .onComplete(
            kept -> {
              if (kept.succeeded() && kept.result()) {
                loop.end(job);
              } else {
                loop.wait(job, ASK_AGAIN);
              }
            });
  }
}
