package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.relay.ParkedRows.Destination;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a lane's rows go without being confirmed in time, as to a queue that has lost its majority.
 * Whether such a row arrived is not known. What else goes there is held back from the lane's
 * channel, which the broker may stop reading for its sake; one row is sent again by growing pause,
 * on a channel of its own, and when it is confirmed all are free. Held rows stay in memory until
 * they fill it; then those go to the table of parked rows of which others were confirmed meanwhile.
 */
final class Silence {
  private static final Logger LOG = LoggerFactory.getLogger(Silence.class);

  /** So many routing keys of one exchange at once are held for one destination. */
  private static final int WIDE = 5;

  private final Vertx vertx;
  private final int lane;
  private final Limits limits;
  private final InFlight rows;
  private final Quarantine trials;
  private final Suspects.Court court;
  private final Map<Destination, Quiet> quiet = new LinkedHashMap<>();

  /** When the latest of those rows was sent that were confirmed. */
  private long confirmed = System.nanoTime();

  /** A destination of which nothing is heard. */
  private static final class Quiet {
    private final Destination to;
    private final Deque<Held> held = new ArrayDeque<>();
    private final long since;

    /** Trials that nobody answered. */
    private int unanswered;

    private long askedAt;

    /** A trial is on its way, or the next one has its time. */
    private boolean trying;

    /**
     * @param since when a row was sent of which nothing has been heard
     */
    private Quiet(Destination to, long since) {
      this.to = to;
      this.since = since;
    }
  }

  Silence(
      Vertx vertx,
      int lane,
      Limits limits,
      InFlight rows,
      Quarantine trials,
      Suspects.Court court) {
    this.vertx = vertx;
    this.lane = lane;
    this.limits = limits;
    this.rows = rows;
    this.trials = trials;
    this.court = court;
  }

  boolean none() {
    return quiet.isEmpty();
  }

  /** Whether a failure says that no confirm came, and nothing else. */
  static boolean unanswered(Throwable failure) {
    return FencepostException.is(failure, FailureKind.TIMEOUT);
  }

  static String detail(Limits limits) {
    return "no confirm within "
        + limits.confirmTimeout().toMillis()
        + " ms, while others were confirmed: whether it arrived is not known";
  }

  /** A row that was sent then was answered. */
  void answered(long sentAt) {
    if (sentAt - confirmed > 0) {
      confirmed = sentAt;
    }
  }

  /**
   * The lane's channel was given up for want of a confirm. Who is to blame is not known: all are
   * suspected that have waited for so long, and the innocent are free after one round trip.
   *
   * @param out were unconfirmed
   */
  void suspect(List<Held> out) {
    long now = System.nanoTime();
    Map<String, Map<String, Long>> overdue = new HashMap<>();
    for (Held held : out) {
      if (now - held.sentAt >= limits.confirmTimeout().toNanos()) {
        OutboxRow.Route route = held.row.route();
        overdue
            .computeIfAbsent(route.exchange(), e -> new HashMap<>())
            .merge(route.routingKey(), held.sentAt, Math::min);
      }
    }
    overdue.forEach(
        (exchange, keys) -> {
          boolean wide = keys.size() > WIDE && !exchange.isEmpty();
          keys.forEach((key, since) -> quiet(new Destination(exchange, wide ? null : key), since));
        });
  }

  private Quiet quiet(Destination to, long since) {
    return quiet.computeIfAbsent(to, t -> new Quiet(t, since));
  }

  private @Nullable Quiet of(OutboxRow.Route route) {
    Quiet one = quiet.get(new Destination(route.exchange(), route.routingKey()));
    return one != null ? one : quiet.get(new Destination(route.exchange(), null));
  }

  /** Whether a row that is to be sent next is held back; it is, then. */
  boolean holds(Held held) {
    Quiet its = quiet.isEmpty() ? null : of(held.row.route());
    if (its == null) {
      return false;
    }
    hold(held, its);
    return true;
  }

  /** Nobody answered for a row that was tried elsewhere. */
  void hold(Held held) {
    Quiet its = of(held.row.route());
    OutboxRow.Route route = held.row.route();
    Destination to = new Destination(route.exchange(), route.routingKey());
    hold(held, its != null ? its : quiet(to, held.sentAt));
  }

  private void hold(Held held, Quiet its) {
    held.state = Held.State.SUSPECT;
    its.held.add(held);
    attempt(its);
  }

  private void attempt(Quiet its) {
    Held first = its.held.peek();
    if (its.trying || first == null) {
      return;
    }
    its.trying = true;
    its.askedAt = System.nanoTime();
    trials
        .attempt(first.row, false)
        .onSuccess(verdict -> court.guarded(() -> answered(its, first, verdict)))
        .onFailure(failure -> court.guarded(() -> failed(its, failure)));
  }

  private void answered(Quiet its, Held tried, Publisher.Verdict verdict) {
    answered(its.askedAt);
    if (!quiet.remove(its.to, its)) {
      return; // parked by now
    }
    if (its.unanswered > 0) {
      long after = Duration.ofNanos(System.nanoTime() - its.since).toMillis();
      LOG.info("lane {} is confirmed again{} after {} ms", lane, named(its.to), after);
    }
    its.held.remove(tried);
    rows.release(List.copyOf(its.held));
    court.judged(tried, verdict);
  }

  private void failed(Quiet its, Throwable failure) {
    if (!unanswered(failure) || quiet.get(its.to) != its) {
      return; // the lane has ended, or they are parked
    }
    if (++its.unanswered == 1) {
      LOG.warn(
          "lane {} is not confirmed{} rows={} detail={}; one is sent again, with growing pauses",
          lane,
          named(its.to),
          its.held.size(),
          failure.getMessage());
    }
    Duration pause =
        RefusalPolicy.backoff(
            its.unanswered, limits.parkedBackoffBase(), limits.parkedBackoffMax());
    vertx.setTimer(
        Math.max(1, pause.toMillis()),
        id ->
            court.guarded(
                () -> {
                  its.trying = false;
                  if (quiet.get(its.to) == its) {
                    attempt(its);
                  }
                }));
    court.released();
  }

  /** Whether the broker has answered for what was sent later. */
  private boolean passedOver(Quiet its) {
    return confirmed - its.since > 0;
  }

  /**
   * Parks what is held and stands in the way, where it is not the whole broker that is silent: it
   * passed these rows over, or it opened another channel after they had been tried in vain. One
   * that does neither is an outage, and fails no row.
   */
  void giveWay(Parker parker) {
    Held head = rows.head();
    if (head == null || head.state != Held.State.SUSPECT) {
      return;
    }
    quiet
        .values()
        .removeIf(
            its -> {
              boolean convicted = its.unanswered > (passedOver(its) ? 0 : 1);
              if (convicted) {
                its.held.forEach(held -> trials.withdraw(held.row.seq()));
                parker.unconfirmed(its.to, its.held, detail(limits));
              }
              return convicted;
            });
  }

  /** The destination that has been silent for longest, as people are told, or null. */
  @Nullable String detail() {
    for (Quiet each : quiet.values()) {
      if (each.unanswered > 0) {
        return told(each.to);
      }
    }
    return null;
  }

  static String told(Destination to) {
    return "no confirm from" + named(to);
  }

  private static String named(Destination to) {
    return " exchange="
        + to.exchange()
        + (to.routingKey() == null ? "" : " routing_key=" + to.routingKey());
  }
}
