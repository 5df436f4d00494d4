package dev.fencepost.embedded;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which events the demo's application writes, and what must have come of them in the end. The same
 * for the same number of events.
 */
public final class DemoPlan {

  /** Retries that the demo's configuration grants, and starts. */
  public static final int MAX_RETRIES = 2;

  /** Every so many events one is written twice, under the same id. */
  private static final int DUPLICATE_EVERY = 20;

  /** Every so many transactions one is rolled back. */
  public static final int ROLLBACK_EVERY = 10;

  /** Events that one transaction of the application writes. */
  public static final int EVENTS_PER_TRANSACTION = 5;

  /** Where events end, among the names of {@link #expected}. */
  public static final List<String> ENDS =
      List.of(
          "completed",
          "dead_poison_message",
          "dead_permanent_failure",
          "dead_retries_exhausted",
          "manual_review",
          "parked");

  /** What the handler of an event meets. */
  public enum Behaviour {
    /** One row in the database, written in one transaction with the receipt. */
    BOOKED("demo.booked", 0),
    /** A call to a remote that deduplicates. */
    NOTIFIED("demo.notified", 0),
    FAILS_ONCE("demo.notified", 1),
    FAILS_TWICE("demo.notified", 2),
    FAILS_FOREVER("demo.notified", MAX_RETRIES),
    REFUSED("demo.notified", 0),
    /** A call that must never be repeated. */
    CHARGED("demo.charged", 0),
    /** The charge was made, and its answer was lost. */
    ANSWER_LOST("demo.charged", 0),
    /** Its worker is killed while it runs. */
    KILLED_RENDERING("demo.rendered", 0),
    /** As above, with a charge on its way. */
    KILLED_CHARGING("demo.charged", 0),
    /** No queue is bound for it. */
    UNROUTABLE("demo.unroutable", 0);

    private final String type;
    private final int retries;

    Behaviour(String type, int retries) {
      this.type = type;
      this.retries = retries;
    }

    /** The activity type. */
    public String type() {
      return type;
    }

    boolean runsInDoomedWorker() {
      return this == KILLED_RENDERING || this == KILLED_CHARGING;
    }

    boolean hasEffect() {
      return this != REFUSED && this != FAILS_FOREVER && this != UNROUTABLE;
    }
  }

  /** One event of the plan. */
  public record Event(String id, Behaviour behaviour, String key, boolean twice) {}

  private final List<Event> doomed = new ArrayList<>();
  private final List<Event> others = new ArrayList<>();

  public DemoPlan(int events) {
    add(doomed, Behaviour.KILLED_RENDERING, 6);
    add(doomed, Behaviour.KILLED_CHARGING, 2);
    add(others, Behaviour.ANSWER_LOST, 2);
    add(others, Behaviour.UNROUTABLE, 3);
    int first = doomed.size() + others.size();
    for (int n = first; n < events; n++) {
      add(others, usual(n), 1);
    }
  }

  /** The fewest events that show everything. */
  public static int least() {
    return 100;
  }

  /** Rows that the doomed worker has written when all its work is under way. */
  public long inHand() {
    return doomed.size() + count(doomed, Behaviour.KILLED_CHARGING);
  }

  /** Run by the worker that dies. */
  public List<Event> doomed() {
    return doomed;
  }

  public List<Event> others() {
    return others;
  }

  private static Behaviour usual(int n) {
    int slot = n % 100;
    if (slot < 4) {
      return Behaviour.FAILS_ONCE;
    } else if (slot < 6) {
      return Behaviour.FAILS_TWICE;
    } else if (slot < 7) {
      return Behaviour.FAILS_FOREVER;
    } else if (slot < 9) {
      return Behaviour.REFUSED;
    } else if (slot < 12) {
      return Behaviour.CHARGED;
    }
    return slot < 30 ? Behaviour.NOTIFIED : Behaviour.BOOKED;
  }

  private void add(List<Event> list, Behaviour behaviour, int count) {
    for (int i = 0; i < count; i++) {
      int n = doomed.size() + others.size();
      boolean twice =
          n % DUPLICATE_EVERY == 0
              && behaviour != Behaviour.UNROUTABLE
              && !behaviour.runsInDoomedWorker();
      // A parked event holds back the later ones of its key: these have keys of their own.
      String key = behaviour == Behaviour.UNROUTABLE ? "nowhere-" + n : "key-" + n % 50;
      list.add(new Event("event-" + n, behaviour, key, twice));
    }
  }

  /**
   * What the database must show in the end, by the names that {@link DemoLedger} counts under.
   *
   * @param poison messages sent past the outbox that nobody can read
   */
  public Map<String, Long> expected(long poison) {
    List<Event> all = new ArrayList<>(doomed);
    all.addAll(others);
    Map<String, Long> expected = new LinkedHashMap<>();
    long written = all.stream().mapToLong(event -> event.twice() ? 2 : 1).sum();
    expected.put("events_committed", written);
    expected.put("events_committed_twice", all.stream().filter(Event::twice).count());
    expected.put("effects", all.stream().filter(event -> event.behaviour().hasEffect()).count());
    expected.put("effects_twice", 0L);
    expected.put("effects_of_rolled_back_events", 0L);
    expected.put("irreversible_calls_repeated", 0L);
    expected.put(
        "completed",
        all.size()
            - count(
                all,
                Behaviour.REFUSED,
                Behaviour.FAILS_FOREVER,
                Behaviour.ANSWER_LOST,
                Behaviour.KILLED_CHARGING,
                Behaviour.UNROUTABLE));
    expected.put("retries", all.stream().mapToLong(event -> event.behaviour().retries).sum());
    expected.put("takeovers", count(all, Behaviour.KILLED_RENDERING, Behaviour.KILLED_CHARGING));
    expected.put("dead_poison_message", poison);
    expected.put("dead_permanent_failure", count(all, Behaviour.REFUSED));
    expected.put("dead_retries_exhausted", count(all, Behaviour.FAILS_FOREVER));
    expected.put("manual_review", count(all, Behaviour.ANSWER_LOST, Behaviour.KILLED_CHARGING));
    expected.put("parked", count(all, Behaviour.UNROUTABLE));
    expected.put("unfinished", 0L);
    return expected;
  }

  /**
   * Messages that the broker's queues have been given when all of them are there.
   *
   * @param expected as {@link #expected} gives it
   */
  public static long arriving(Map<String, Long> expected) {
    return expected.getOrDefault("events_committed", 0L)
        - expected.getOrDefault("parked", 0L)
        + expected.getOrDefault("dead_poison_message", 0L);
  }

  private static long count(List<Event> events, Behaviour... behaviours) {
    List<Behaviour> wanted = List.of(behaviours);
    return events.stream().filter(event -> wanted.contains(event.behaviour())).count();
  }
}
