package dev.fencepost.worker;

import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RecoveryDecision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log lines of contract §6. What happens to every message is DEBUG, so that it is no bottleneck
 * at load; what happens to few is INFO or WARN.
 */
final class WorkerLog {
  private static final Logger LOG = LoggerFactory.getLogger("dev.fencepost.worker");
  private static final int LONGEST_ERROR = 300;

  private WorkerLog() {}

  static void delivery(Job job, int retries) {
    Delivery delivery = job.delivery;
    if (delivery == null || (!delivery.redelivered() && !LOG.isDebugEnabled())) {
      return;
    }
    long deliveries =
        delivery.redelivered()
            ? Math.max(2, delivery.deliveries())
            : Math.max(1, delivery.deliveries());
    at(
        delivery.redelivered(),
        "delivery event={} type={} queue={} redelivered={} deliveries={} retries={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        delivery.redelivered(),
        deliveries,
        retries);
  }

  static void start(Job job, Claim.Ticket ticket) {
    boolean again = ticket.attempt() > 1;
    if (again || LOG.isDebugEnabled()) {
      at(
          again,
          "start event={} type={} queue={} attempt={} fence={}",
          job.id.eventId(),
          job.lane.type(),
          job.id.consumer(),
          ticket.attempt(),
          ticket.fence());
    }
  }

  private static void at(boolean info, String format, Object... arguments) {
    if (info) {
      LOG.info(format, arguments);
    } else {
      LOG.debug(format, arguments);
    }
  }

  static void retry(Job job, Claim.Ticket ticket, Settlement.RunAgain how) {
    LOG.info(
        "retry event={} type={} queue={} retry={}/{} in={} error={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        ticket.retries() + 1,
        ticket.work().maxRetries(),
        text(how.delay()),
        text(how.error()));
  }

  static void deadLetter(DeadLettered letter) {
    LOG.warn(
        "dead-letter event={} type={} queue={} reason={} attempts={} error={}",
        letter.id().eventId(),
        letter.type(),
        letter.id().consumer(),
        letter.reason().wire(),
        letter.attempts(),
        text(letter.error()));
  }

  /** Poison under an id that is known already: a redelivery, or a message that lies. */
  static void poisonAgain(DeadLettered letter) {
    LOG.warn(
        "poison event={} type={} queue={} is known already: no dead letter was written, error={}",
        letter.id().eventId(),
        letter.type(),
        letter.id().consumer(),
        text(letter.error()));
  }

  /** A run that failed so that nobody knows whether it happened, and what follows. */
  static void unknown(Job job, Claim.Ticket ticket, String next, @Nullable ErrorInfo error) {
    LOG.warn(
        "unknown event={} type={} queue={} attempt={} fence={} next={} error={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        ticket.attempt(),
        ticket.fence(),
        next,
        text(error));
  }

  static void softLimit(Job job, Claim.Ticket ticket) {
    LOG.info(
        "soft-limit event={} type={} queue={} limit={} fence={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        text(job.lane.softLimit()),
        ticket.fence());
  }

  static void hardLimit(Job job, Claim.Ticket ticket, String outcome) {
    LOG.warn(
        "hard-limit event={} type={} queue={} limit={} fence={} outcome={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        text(job.lane.hardLimit()),
        ticket.fence(),
        outcome);
  }

  static void takeover(Evidence evidence, RecoveryDecision decision) {
    LOG.warn(
        "takeover event={} type={} queue={} from={} fence={}->{} phase={} progress={} decision={}",
        evidence.id().eventId(),
        evidence.type(),
        evidence.id().consumer(),
        evidence.holder().owner(),
        evidence.holder().fence(),
        evidence.holder().fence() + 1,
        evidence.holder().phase(),
        evidence.holder().progress(),
        decision.wire());
  }

  static void stalled(Run run, Duration silent) {
    Run.Progress latest = run.latest();
    Job job = run.job();
    LOG.warn(
        "stalled event={} type={} queue={} phase={} progress={} silent={} lease=held",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        latest == null ? null : latest.phase(),
        latest == null ? null : latest.seq(),
        text(silent));
  }

  static void leaseLost(Job job, Claim.Ticket ticket) {
    LOG.warn(
        "lease-lost event={} type={} queue={} fence={}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        ticket.fence());
  }

  static void misbehaved(Job job, String what) {
    LOG.warn(
        "handler event={} type={} queue={} {}",
        job.id.eventId(),
        job.lane.type(),
        job.id.consumer(),
        what);
  }

  /** As in the configuration: 250ms, 15s, 10m. */
  static String text(Duration d) {
    long millis = d.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    return seconds == 0 || seconds % 60 != 0 ? seconds + "s" : seconds / 60 + "m";
  }

  /** On one line, and bounded. */
  static String text(@Nullable ErrorInfo error) {
    if (error == null) {
      return "none";
    }
    String simple = error.errorClass().substring(error.errorClass().lastIndexOf('.') + 1);
    String all = error.message() == null ? simple : simple + ": " + error.message();
    String line = all.replaceAll("\\p{Cntrl}+", " ");
    return line.length() <= LONGEST_ERROR ? line : line.substring(0, LONGEST_ERROR) + "…";
  }
}
