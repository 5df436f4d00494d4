package dev.fencepost.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a consumer need be asked about at all: three small statements for all of a process's
 * consumers, their answers kept for a moment. A hundred idle queues cost the database what one
 * does.
 */
final class Pulse {
  /**
   * How old an answer may be.
   *
   * @param purge how long a purge that found no more, or nothing old, is good for
   * @param all how often all due rows are looked at, not only the recent ones
   */
  record Ages(Duration due, Duration standing, Duration purge, Duration all) {
    static final Ages USUAL =
        new Ages(
            Duration.ofMillis(500),
            Duration.ofSeconds(2),
            Duration.ofMinutes(1),
            Duration.ofSeconds(30));
    static final Ages NONE = new Ages(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);
  }

  private static final long NEVER = Duration.ofDays(3650).toNanos();

  private final DurableWork work;
  private final Ages ages;
  private final Lookback lookback;
  private final Map<String, Long> purged = new ConcurrentHashMap<>();
  private volatile @Nullable Due due;
  private volatile @Nullable Standing standing;
  private volatile @Nullable Old old;
  private volatile @Nullable Future<Old> askingOld;
  private volatile @Nullable Future<Due> askingDue;
  private volatile @Nullable Future<Standing> askingStanding;

  /** When something that this process has scheduled falls due. */
  private volatile long own = System.nanoTime() + NEVER;

  private record Due(long at, Set<String> consumers, boolean many, long next) {}

  private record Standing(long at, Map<String, Set<String>> consumers) {
    boolean has(String what, String consumer) {
      return of(what).contains(consumer);
    }

    Set<String> of(String what) {
      return consumers.getOrDefault(what, Set.of());
    }
  }

  /** Who has work older than retention, of whatever outcome. */
  private record Old(long at, Duration than, Set<String> consumers) {}

  Pulse(DurableWork work, Ages ages) {
    this.work = work;
    this.ages = ages;
    this.lookback = lookback();
  }

  /** For looks at due rows, as far back as this one looks. */
  Lookback lookback() {
    return new Lookback(ages.all);
  }

  /** This process has written a due time. */
  void scheduled(Duration delay) {
    long at = System.nanoTime() + delay.toNanos();
    if (at - own < 0) {
      own = at;
    }
  }

  /** This process has left a running row to the sweep. */
  void unsettled() {
    standing = null;
  }

  Future<Boolean> mayBeDue(String consumer) {
    return due(2).map(known -> known.many || known.consumers.contains(consumer));
  }

  Future<Set<String>> mayBeDue(Set<String> consumers) {
    return due(2)
        .map(
            known -> {
              if (known.many) {
                return consumers;
              }
              Set<String> found = new HashSet<>(known.consumers);
              found.retainAll(consumers);
              return found;
            });
  }

  private Future<Due> due(int tries) {
    Due known = due;
    if (known != null && fresh(known)) {
      return Future.succeededFuture(known);
    }
    Future<Due> asking = askingDue;
    if (asking == null) {
      asking = askDue();
      askingDue = asking;
      Future<Due> mine = asking;
      mine.onComplete(
          done -> {
            if (askingDue == mine) {
              askingDue = null;
            }
          });
      return mine;
    }
    // Asked before this process has scheduled something, it may not have seen that.
    return asking.compose(
        told -> fresh(told) || tries == 0 ? Future.succeededFuture(told) : due(tries - 1));
  }

  private boolean fresh(Due known) {
    long now = System.nanoTime();
    return now - known.at < ages.due.toNanos() && now - known.next < 0 && now - own < 0;
  }

  private Future<Due> askDue() {
    long sent = System.nanoTime();
    own = sent + NEVER;
    Lookback.Span span = lookback.span(sent);
    return work.execute(work.sql(PulseSql.DUE), Tuple.of(span.millis()))
        .map(
            rows -> {
              Row row = rows.iterator().next();
              Set<String> consumers = new HashSet<>(Set.of(row.getArrayOfStrings("due")));
              Due before = due;
              if (before != null && !span.all()) {
                consumers.addAll(before.consumers); // what was due then may be so still
              }
              Long nextIn = row.getLong("next_in");
              long next = sent + (nextIn == null ? NEVER : Duration.ofMillis(nextIn).toNanos());
              lookback.done(span);
              Due told = new Due(sent, consumers, row.getBoolean("many"), next);
              due = told;
              return told;
            })
        .onFailure(e -> own = sent);
  }

  /** Groups that may have expired, or events that may have missed their release. */
  Future<Boolean> mayNeedSweep(String consumer) {
    return standing()
        .map(known -> known.has("expired", consumer) || known.has("blocked", consumer));
  }

  Future<Set<String>> mayNeedSweep(Set<String> consumers) {
    return standing()
        .map(
            known -> {
              Set<String> found = new HashSet<>(known.of("expired"));
              found.addAll(known.of("blocked"));
              found.retainAll(consumers);
              return found;
            });
  }

  Future<Boolean> hasUnresolved(String consumer) {
    return standing().map(known -> known.has("unresolved", consumer));
  }

  Future<Boolean> hasReviews(String consumer) {
    return standing().map(known -> known.has("manual_review", consumer));
  }

  /** Whether a purge may find something again. */
  Future<Boolean> mayPurge(String consumer, Duration olderThan) {
    Long last = purged.get(consumer);
    return last != null && System.nanoTime() - last < ages.purge.toNanos()
        ? Future.succeededFuture(false)
        : old(olderThan).map(known -> known.consumers.contains(consumer));
  }

  /** There was no more to purge. */
  void purged(String consumer) {
    purged.put(consumer, System.nanoTime());
  }

  private Future<Old> old(Duration than) {
    Old known = old;
    if (known != null
        && known.than.equals(than)
        && System.nanoTime() - known.at < ages.purge.toNanos()) {
      return Future.succeededFuture(known);
    }
    Future<Old> asking = askingOld;
    if (asking != null) {
      return asking;
    }
    Future<Old> mine = askOld(than);
    askingOld = mine;
    mine.onComplete(
        done -> {
          if (askingOld == mine) {
            askingOld = null;
          }
        });
    return mine;
  }

  private Future<Old> askOld(Duration than) {
    long sent = System.nanoTime();
    return work.execute(work.sql(PulseSql.OLD), Tuple.of(than.toMillis()))
        .map(
            rows -> {
              Set<String> consumers = new HashSet<>();
              rows.forEach(row -> consumers.add(row.getString("consumer")));
              Old told = new Old(sent, than, consumers);
              old = told;
              return told;
            });
  }

  /** Does the work only where the answer is yes. */
  static <T> Future<T> when(Future<Boolean> asked, Supplier<Future<T>> work, T otherwise) {
    return asked.compose(yes -> yes ? work.get() : Future.succeededFuture(otherwise));
  }

  private Future<Standing> standing() {
    Standing known = standing;
    if (known != null && System.nanoTime() - known.at < ages.standing.toNanos()) {
      return Future.succeededFuture(known);
    }
    Future<Standing> asking = askingStanding;
    if (asking != null) {
      return asking;
    }
    Future<Standing> mine = askStanding();
    askingStanding = mine;
    mine.onComplete(
        done -> {
          if (askingStanding == mine) {
            askingStanding = null;
          }
        });
    return mine;
  }

  private Future<Standing> askStanding() {
    long sent = System.nanoTime();
    return work.execute(work.sql(PulseSql.STANDING), Tuple.tuple())
        .map(
            rows -> {
              Map<String, Set<String>> consumers = new HashMap<>();
              rows.forEach(
                  row ->
                      consumers
                          .computeIfAbsent(row.getString("what"), what -> new HashSet<>())
                          .add(row.getString("consumer")));
              Standing told = new Standing(sent, consumers);
              standing = told;
              return told;
            });
  }
}
