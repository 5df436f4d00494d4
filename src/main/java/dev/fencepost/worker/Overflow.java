package dev.fencepost.worker;

import dev.fencepost.model.ErrorInfo;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deliveries that wait for a slot of a type in which nothing moves. Left alone they fill the
 * prefetch of their queue, and types that could run get no more messages. So their messages are
 * stored, due now, and acknowledged; from there they come through the same gates as retries do,
 * when a slot is free. No start is counted, and order by key is kept: an event gets its turn here
 * before it is stored.
 */
final class Overflow {
  private static final Logger LOG = LoggerFactory.getLogger(Overflow.class);
  static final Duration STILL = Duration.ofSeconds(5);
  private static final int GROUP = 100;

  private final WorkerEnv env;
  private final QueueLoop loop;
  private final Claims claims;
  private final Claims.Answered answered;
  private final Grouper<Job, Claim.Answer> group;

  Overflow(WorkerEnv env, QueueLoop loop, Claims claims, Claims.Answered answered) {
    this.env = env;
    this.loop = loop;
    this.claims = claims;
    this.answered = answered;
    this.group =
        new Grouper<>(
            "defer",
            GROUP,
            env.timers(),
            this::send,
            new Grouper.Answers<>() {
              @Override
              public void answered(Job job, Claim.Answer answer, long sentNanos) {
                Overflow.this.stored(job, answer, sentNanos);
              }

              @Override
              public void refused(Job job, Throwable cause) {
                answered.refused(job, ErrorInfo.of(cause));
              }
            },
            env.admission()::database);
  }

  /** One for which it fails holds up no other. */
  static Future<Void> tick(List<Overflow> all) {
    Future<Void> outcome = Future.succeededFuture();
    for (Overflow each : all) {
      try {
        each.loop.lanes().forEach(each::look);
      } catch (RuntimeException e) {
        outcome = Future.failedFuture(e);
      }
    }
    return outcome;
  }

  private void look(TypeLane lane) {
    if (!still(lane)) {
      return;
    }
    List<Job> jobs = new ArrayList<>(lane.waiting);
    lane.waiting.clear();
    jobs.removeIf(job -> job.finished);
    if (!lane.overflows && !jobs.isEmpty()) {
      lane.overflows = true;
      LOG.warn(
          "queue={} type={} no slot has come free for {}: {} waiting deliveries go to the database",
          lane.queueName(),
          lane.type(),
          WorkerLog.text(STILL),
          jobs.size());
    }
    jobs.forEach(group::add);
  }

  /** Nothing of it moves, others could do with the prefetch, and the database is not the reason. */
  private boolean still(TypeLane lane) {
    return !lane.waiting.isEmpty()
        && lane.free <= 0
        && env.timers().nanos() - lane.movedNanos >= STILL.toNanos()
        && loop.crowded()
        && env.admission().open()
        && env.admission().databaseAway() == null;
  }

  private Future<List<Claim.Answer>> send(List<Job> jobs) {
    List<Claim.Request> requests = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      requests.add(job.request());
    }
    return env.store().defer(requests);
  }

  private void stored(Job job, Claim.Answer answer, long sentNanos) {
    job.answered();
    if (answer instanceof Claim.Waiting waiting) {
      WorkerLog.delivery(job, waiting.retries());
      loop.end(job); // counted by the outcome of its start
      look(job.lane); // the next of its key has its turn now
    } else if (answer instanceof Claim.Held held) {
      answered.held(job, held.remaining(), held.evidence()); // without a slot nothing is taken up
    } else {
      claims.answered(job, answer, sentNanos);
    }
  }
}
