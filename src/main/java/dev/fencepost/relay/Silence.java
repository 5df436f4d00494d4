package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig.Relay.Limits;
import dev.fencepost.decide.RefusalPolicy;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.relay.ParkedRows.Destination;
import io.vertx.core.Vertx;
import java.time.Duration;
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
 * on a channel of its own, and when it is confirmed all are free. Of an exchange with many such
 * routing keys some are tried singly, and the others not before any of them is confirmed, or one by
 * one. Held rows stay in memory until they fill it; then those go to the table of parked rows of
 * which others were confirmed meanwhile.
 */
final class Silence {
  private static final Logger LOG = LoggerFactory.getLogger(Silence.class);

  /** So many routing keys of an exchange are tried at first; what is more is held for all of it. */
  private static final int SINGLY = 5;

  /** Further ones are not tried while so many trials are under way: they share a channel. */
  private static final int AT_ONCE = 20;

  private final Vertx vertx;
  private final int lane;
  private final Limits limits;
  private final InFlight rows;
  private final Quarantine trials;
  private final Suspects.Court court;
  private final Map<Destination, Quiet> quiet = new LinkedHashMap<>();

  /** Trials under way. */
  private int trying;

  /** When the latest of those rows was sent that were confirmed. */
  private long confirmed = System.nanoTime();

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
   * suspected that have waited for so long. The innocent are free after one round trip or, of an
   * exchange with many such routing keys, two; unless all that are tried of it are silent.
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
            .computeIfAbsent(route.exchange(), e -> new LinkedHashMap<>())
            .merge(route.routingKey(), held.sentAt, Math::min);
      }
    }
    overdue.forEach(this::suspect);
  }

  private void suspect(String exchange, Map<String, Long> keys) {
    int singly = exchange.isEmpty() ? keys.size() : SINGLY;
    for (Map.Entry<String, Long> each : keys.entrySet()) {
      String key = singly-- > 0 ? each.getKey() : null;
      quiet(new Destination(exchange, key), each.getValue()).free.remove(each.getKey());
    }
  }

  private Quiet quiet(Destination to, long since) {
    return quiet.computeIfAbsent(
        to,
        t -> {
          Quiet its = new Quiet(t, since);
          its.unanswered = its.whole() ? -SINGLY : 0;
          return its;
        });
  }

  private @Nullable Quiet whole(OutboxRow.Route route) {
    return quiet.get(Destination.whole(route));
  }

  private @Nullable Quiet of(OutboxRow.Route route) {
    Quiet one = quiet.get(Destination.single(route));
    if (one != null) {
      return one;
    }
    Quiet whole = whole(route);
    return whole == null || whole.free.contains(route.routingKey()) ? null : whole;
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
    hold(held, its != null ? its : quiet(Destination.single(held.row.route()), held.sentAt));
  }

  private void hold(Held held, Quiet its) {
    held.state = Held.State.SUSPECT;
    its.held.add(held);
    attempt(its);
  }

  private void attempt(Quiet its) {
    Held next = its.next();
    if (next == null) {
      return;
    }
    next.tried = true;
    its.tried = next;
    its.askedAt = System.nanoTime();
    trying++;
    trials
        .attempt(next.row, false)
        .onComplete(any -> trying--)
        .onSuccess(verdict -> court.guarded(() -> answered(next, verdict)))
        .onFailure(failure -> court.guarded(() -> failed(next, failure)));
  }

  /** What a row is tried for, or null when it is parked by now. */
  private @Nullable Quiet trying(Held tried) {
    Quiet its = of(tried.row.route());
    return its != null && its.tried == tried ? its : null;
  }

  private void answered(Held tried, Publisher.Verdict verdict) {
    Quiet its = trying(tried);
    if (its == null) {
      return;
    }
    Quiet one = its.whole() ? split(its, tried) : its;
    answered(one.askedAt);
    one.held.remove(tried);
    quiet.remove(one.to);
    confirmedAgain(one);
    rows.release(List.copyOf(one.held));
    Quiet others = whole(tried.row.route());
    if (others != null) {
      heard(others, tried.row.route().routingKey());
      scatter(others);
    }
    court.judged(tried, verdict);
  }

  private void confirmedAgain(Quiet its) {
    if (its.unanswered > 0) {
      long after = Duration.ofNanos(System.nanoTime() - its.since).toMillis();
      LOG.info("lane {} is confirmed again{} after {} ms", lane, named(its.to), after);
    }
  }

  private void heard(Quiet whole, String routingKey) {
    confirmedAgain(whole);
    whole.unanswered = -SINGLY;
    whole.inVain = 0;
    whole.heardAt = System.nanoTime();
    whole.free.add(routingKey);
    whole.pausing = false;
  }

  /** An exchange is not silent as a whole: each of its routing keys goes on by itself. */
  private void scatter(Quiet whole) {
    if (whole.tried != null) {
      split(whole, whole.tried);
    }
    while (!whole.held.isEmpty() && trying < AT_ONCE) {
      attempt(split(whole, whole.held.getFirst()));
    }
    if (whole.held.isEmpty()) {
      quiet.remove(whole.to);
    } else {
      attempt(whole);
    }
  }

  /** A routing key goes on by itself, with the trial of one of its rows. */
  private Quiet split(Quiet whole, Held its) {
    Quiet one =
        quiet(
            Destination.single(its.row.route()), its == whole.tried ? whole.askedAt : whole.since);
    whole.part(one);
    return one;
  }

  private void failed(Held tried, Throwable failure) {
    Quiet its = trying(tried);
    if (its == null || !unanswered(failure)) {
      return; // parked, or the lane has ended
    }
    Quiet whole = whole(tried.row.route());
    Quiet one = its.whole() ? split(its, tried) : its;
    one.tried = null;
    unanswered(one, failure);
    pause(one);
    if (whole != null && one.unanswered == 1 && one.askedAt - whole.heardAt > 0) {
      unanswered(whole, failure);
    }
    if (its.whole()) {
      goOn(its);
    }
    court.released();
  }

  private void unanswered(Quiet its, Throwable failure) {
    if (++its.unanswered == 1) {
      LOG.warn(
          "lane {} is not confirmed{} rows={} detail={}; one is sent again, with growing pauses",
          lane,
          named(its.to),
          its.held.size(),
          failure.getMessage());
    }
  }

  /** The routing key that was tried has left it. */
  private void goOn(Quiet whole) {
    if (whole.held.isEmpty()) {
      quiet.remove(whole.to); // others of its exchange are not suspected
    } else {
      pause(whole);
    }
  }

  private void pause(Quiet its) {
    Duration pause =
        RefusalPolicy.backoff(++its.inVain, limits.parkedBackoffBase(), limits.parkedBackoffMax());
    its.pausing = true;
    vertx.setTimer(Math.max(1, pause.toMillis()), id -> court.guarded(() -> again(its)));
  }

  private void again(Quiet its) {
    its.pausing = false;
    if (quiet.get(its.to) == its) {
      attempt(its);
    }
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
                if (its.tried != null) {
                  trials.withdraw(its.tried.row.seq());
                }
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
