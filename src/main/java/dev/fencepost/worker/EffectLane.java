package dev.fencepost.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The effects of one type. Fresh ones share transactions, whatever piled up while the last ones
 * were in flight; one that failed is claimed, so that its start is counted, and runs in a
 * transaction of its own.
 *
 * <p>While nothing fails a group is one pipeline. After a failure the next groups go in parts: at a
 * high rate of failures a big group would be undone again and again for a single culprit.
 */
final class EffectLane {
  private static final int LARGEST = 256;
  private static final int PART = 24;
  private static final int CAREFUL_GROUPS = 50;
  private static final int GROUPS_AT_ONCE = 2;
  private static final int SINGLES_AT_ONCE = 2;

  private final WorkerEnv env;
  private final Runner runner;
  private final Settler settler;
  private final Claims claims;
  private final TypeLane lane;
  private final ArrayDeque<Job> fresh = new ArrayDeque<>();
  private final ArrayDeque<List<Job>> again = new ArrayDeque<>();
  private final ArrayDeque<Job> singles = new ArrayDeque<>();
  private final List<EffectRun> open = new ArrayList<>();
  private final Backoff backoff = new Backoff();
  private int carefulGroups;
  private int groups;
  private int alone;
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
    boolean open = env.admission().open(); // what has not begun was never started
    while (open && groups < GROUPS_AT_ONCE && !(again.isEmpty() && fresh.isEmpty())) {
      groups++;
      begin(new EffectRun(this, again.isEmpty() ? take() : again.remove(), false));
    }
    boolean stopped = env.admission().stopped(); // then none of them begins
    while ((alone < SINGLES_AT_ONCE || stopped) && !singles.isEmpty()) {
      Job job = singles.remove();
      if (runner.mayStart(job)) {
        alone++;
        begin(new EffectRun(this, List.of(job), true));
      }
    }
  }

  private void begin(EffectRun run) {
    open.add(run);
    lane.began();
    run.begin();
  }

  private List<Job> take() {
    int n = Math.min(LARGEST, fresh.size());
    List<Job> group = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      group.add(fresh.remove());
    }
    return group;
  }

  /** A transaction has ended, one way or the other. */
  void closed(EffectRun run) {
    open.remove(run);
    if (run.single()) {
      alone--;
    } else {
      groups--;
    }
    wake();
  }

  Backoff backoff() {
    return backoff;
  }

  void committed() {
    backoff.reset();
    carefulGroups = Math.max(0, carefulGroups - 1);
  }

  /** Something failed: the next groups go in parts, so that little is undone for one culprit. */
  void careful() {
    carefulGroups = CAREFUL_GROUPS;
  }

  /** How many may be undone by one failure. */
  int partSize() {
    return carefulGroups > 0 ? PART : LARGEST;
  }

  /** Those who failed are started singly, counted; their neighbours go again, charged nothing. */
  void failed(List<Job> culprits, List<Job> neighbours) {
    culprits.forEach(claims::add);
    if (!neighbours.isEmpty()) {
      again.add(neighbours);
      wake();
    }
  }

  /** The same once more, later: nothing is known of it, or nothing can be known now. */
  void later(EffectRun run) {
    env.timers()
        .after(
            backoff.next(),
            () -> {
              if (run.single()) {
                singles.addAll(run.jobs());
              } else {
                again.add(run.jobs());
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
