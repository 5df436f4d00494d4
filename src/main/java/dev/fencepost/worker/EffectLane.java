package dev.fencepost.worker;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The effects of one type. Fresh ones share transactions, whatever piled up while the last ones
 * were in flight; those that seem to have failed for good share others, in which they run apart;
 * one that failed otherwise is claimed, so that its start is counted, and runs in a transaction of
 * its own.
 *
 * <p>While nothing fails a group is one pipeline. After a failure the next groups go in parts: at a
 * high rate of failures a big group would be undone again and again for a single culprit.
 */
final class EffectLane {
  private static final int LARGEST = 1024;

  /** Between two savepoints, where failures are about. */
  static final int PART = 24;

  private static final int CAREFUL_GROUPS = 50;
  private static final int LARGEST_APART = 64;

  /** Transactions at a time, by their sort. */
  private static final Map<EffectRun.Sort, Integer> AT_ONCE =
      Map.of(EffectRun.Sort.SHARED, 2, EffectRun.Sort.APART, 1, EffectRun.Sort.CLAIMED, 2);

  private final WorkerEnv env;
  private final Runner runner;
  private final Settler settler;
  private final Claims claims;
  private final TypeLane lane;
  private final ArrayDeque<Job> fresh = new ArrayDeque<>();
  private final ArrayDeque<List<Job>> again = new ArrayDeque<>();
  private final ArrayDeque<Job> apart = new ArrayDeque<>();
  private final ArrayDeque<Job> singles = new ArrayDeque<>();
  private final List<EffectRun> open = new ArrayList<>();
  private final Backoff backoff = new Backoff();
  private int carefulGroups;
  private int most = LARGEST;
  private boolean woken;

  EffectLane(WorkerEnv env, Runner runner, Settler settler, Claims claims, TypeLane lane) {
    this.env = env;
    this.runner = runner;
    this.settler = settler;
    this.claims = claims;
    this.lane = lane;
  }

  WorkerEnv env() {
    return env;
  }

  Runner runner() {
    return runner;
  }

  Settler settler() {
    return settler;
  }

  TypeLane lane() {
    return lane;
  }

  /** A delivery that nobody has started before. */
  void add(Job job) {
    fresh.add(job);
    wake();
  }

  /** A claimed job: in a transaction of its own. */
  void single(Job job) {
    singles.add(job);
    wake();
  }

  /** The transactions that are open, for the watch over limits. */
  List<EffectRun> open() {
    return open;
  }

  /** Nothing is under way. */
  boolean idle() {
    return open.isEmpty() && singles.isEmpty();
  }

  void wake() {
    if (!woken) {
      woken = true;
      env.timers().execute(this::pump); // after the batch that is being handed over
    }
  }

  private void pump() {
    woken = false;
    boolean opens = env.admission().open(); // what has not begun was never started
    while (opens && room(EffectRun.Sort.SHARED) && !(again.isEmpty() && fresh.isEmpty())) {
      List<Job> group = again.isEmpty() ? take(fresh, most) : again.remove();
      begin(new SharedEffects(this, group, false));
    }
    while (opens && room(EffectRun.Sort.APART) && !apart.isEmpty()) {
      begin(new SharedEffects(this, take(apart, LARGEST_APART), true));
    }
    boolean stopped = env.admission().stopped(); // then none of them begins
    while ((stopped || room(EffectRun.Sort.CLAIMED)) && !singles.isEmpty()) {
      Job job = singles.remove();
      if (runner.mayStart(job)) {
        begin(new ClaimedEffect(this, job));
      }
    }
  }

  private boolean room(EffectRun.Sort sort) {
    long now = open.stream().filter(run -> run.sort() == sort).count();
    return now < AT_ONCE.getOrDefault(sort, 0);
  }

  private void begin(EffectRun run) {
    open.add(run);
    lane.began();
    run.begin();
  }

  private static List<Job> take(ArrayDeque<Job> from, int most) {
    int n = Math.min(most, from.size());
    List<Job> group = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      group.add(from.remove());
    }
    return group;
  }

  /** A transaction has ended, one way or the other. */
  void closed(EffectRun run) {
    open.remove(run);
    wake();
  }

  void committed() {
    backoff.reset();
  }

  /**
   * Something failed, or a group ended: the next groups after a failure go in parts, so that little
   * is undone for one culprit.
   */
  void careful(boolean failed) {
    carefulGroups = failed ? CAREFUL_GROUPS : Math.max(0, carefulGroups - 1);
  }

  boolean careful() {
    return carefulGroups > 0;
  }

  /** How many may be undone by one failure. */
  int partSize() {
    return careful() ? Math.min(PART, most) : most;
  }

  /**
   * A group has ended: together they must not take as long as one of them may. What took half of
   * that goes in smaller groups from now on, anything quicker in larger ones again. A lone one says
   * nothing of groups.
   */
  void took(Duration age, int ended) {
    Duration hard = lane.hardLimit();
    if (age.compareTo(hard.dividedBy(8)) < 0) {
      most = Math.min(LARGEST, most * 2);
    } else if (age.compareTo(hard.dividedBy(2)) <= 0) {
      most = Math.min(LARGEST, most + Math.max(1, most / 8));
    } else if (ended > 1) {
      tooMany(ended);
    }
  }

  /** A group was too large; so many of it had returned. */
  void tooMany(int returned) {
    most = Math.max(1, Math.min(most, returned / 2));
  }

  /** Each is started singly, counted. */
  void claim(List<Job> jobs) {
    jobs.forEach(claims::add);
  }

  /** They share a transaction in which none sees the work of another. */
  void apart(List<Job> jobs) {
    if (!jobs.isEmpty()) {
      apart.addAll(jobs);
      wake();
    }
  }

  /** The same as a group once more, charged nothing. */
  void again(List<Job> jobs) {
    for (int from = 0; from < jobs.size(); from += most) {
      again.add(new ArrayList<>(jobs.subList(from, Math.min(jobs.size(), from + most))));
    }
    wake();
  }

  /** The same once more, later: nothing is known of it, or nothing can be known now. */
  void later(EffectRun run) {
    env.timers()
        .after(
            backoff.next(),
            () -> {
              switch (run.sort()) {
                case SHARED -> again.add(run.jobs());
                case APART -> apart.addAll(run.jobs());
                case CLAIMED -> singles.addAll(run.jobs());
              }
              wake();
            });
  }

  /** A group that conflicts with another owner's rows is halved until the row stands alone. */
  void split(List<Job> jobs) {
    int half = jobs.size() / 2;
    again.add(new ArrayList<>(jobs.subList(0, half)));
    again.add(new ArrayList<>(jobs.subList(half, jobs.size())));
  }

  Claims claims() {
    return claims;
  }
}
