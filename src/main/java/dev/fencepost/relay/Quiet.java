package dev.fencepost.relay;

import dev.fencepost.relay.ParkedRows.Destination;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A destination of which nothing is heard: rows that are held back, and one that is tried. */
final class Quiet {
  final Destination to;
  final Deque<Held> held = new ArrayDeque<>();

  /** When a row was sent of which nothing has been heard. */
  final long since;

  /**
   * Trials that nobody answered. Of a whole exchange: routing keys that were tried in vain since
   * one was confirmed, less those it takes to suspect the others.
   */
  int unanswered;

  /** Trials of its own that nobody answered since then. */
  int inVain;

  /** When one of its routing keys was confirmed; at first, {@link #since}. */
  long heardAt;

  /** Routing keys of a whole exchange that were confirmed while others were not. */
  final Set<String> free = new HashSet<>();

  /** The row whose trial is under way. */
  @Nullable Held tried;

  long askedAt;

  /** The next trial has its time. */
  boolean pausing;

  Quiet(Destination to, long since) {
    this.to = to;
    this.since = since;
    this.heardAt = since;
  }

  /** Whether all routing keys of the exchange are meant. */
  boolean whole() {
    return to.routingKey() == null;
  }

  /** The row to be tried now, or null when none is. */
  @Nullable Held next() {
    return tried != null || pausing ? null : held.peek();
  }

  /** Gives one routing key its own rows, and the trial of one of them if it is under way. */
  void part(Quiet one) {
    held.removeIf(
        each -> {
          boolean its = one.to.takes(each.row.route());
          if (its) {
            one.held.add(each);
          }
          return its;
        });
    if (tried != null && one.to.takes(tried.row.route())) {
      one.tried = tried;
      one.askedAt = askedAt;
      tried = null;
    }
  }
}
