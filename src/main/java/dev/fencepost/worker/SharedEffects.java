package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fresh effects that share a transaction: it is committed when all handlers have returned. Where
 * failures are about, it goes in parts with a savepoint before each: then only the part of the
 * culprit is undone and repeated without it. A part's handlers have all returned before the next
 * savepoint, since one of several statements must not come to stand behind it.
 *
 * <p>Who failed by himself is told from those who only failed with him by SQLSTATE 25P02. A failure
 * for good is an outcome only where no work of a neighbour can have been seen: when it came before
 * any answer of the database could, or when nothing but failures, all undone, came before it in the
 * transaction. Such a one dies with the commit. Any other culprit that seems to have failed for
 * good goes into a transaction of those who run apart: one at a time, each from the same savepoint,
 * until the first that does not fail. Who fails otherwise is claimed, and runs with a start that is
 * counted.
 */
final class SharedEffects extends EffectRun {
  private final boolean apart;
  private final ArrayDeque<Job> waiting = new ArrayDeque<>();
  private final Map<Job, Settlement.Completed> done = new HashMap<>();
  private final Map<Job, Settlement.Dead> dead = new HashMap<>();
  private final List<Job> toRunApart = new ArrayList<>(1);
  private final List<Job> toClaim = new ArrayList<>(0);
  private final List<Job> cut = new ArrayList<>(0);
  private List<Claim.Answer> answers = List.of();
  private @Nullable Future<Void> savepoint;
  private Future<Void> undone = Future.succeededFuture();

  SharedEffects(EffectLane lane, List<Job> jobs, boolean apart) {
    super(lane, jobs, apart ? Sort.APART : Sort.SHARED);
    this.apart = apart;
  }

  @Override
  Future<ActivityStore.EffectGroup> open() {
    List<Claim.Request> requests = new ArrayList<>(jobs().size());
    for (Job job : jobs()) {
      requests.add(job.request());
    }
    WorkerEnv env = lane().env();
    return env.store().beginEffects(env.owner(), lane().lane().hardLimit(), requests);
  }

  @Override
  void notBegun(Throwable cause) {
    if (Failures.outage(cause)) {
      lane().later(this);
    } else if (jobs().size() > 1 && !apart) {
      lane().split(jobs());
    } else {
      lane().claim(jobs()); // a claim says what is wrong with a row
    }
  }

  @Override
  void begun(List<Claim.Answer> all) {
    answers = all;
    for (int i = 0; i < jobs().size(); i++) {
      Job job = jobs().get(i);
      if (answers.get(i) instanceof Claim.Started started) {
        job.claimed(started.ticket(), Long.MAX_VALUE); // the row lock is the fence
        job.committing = null;
        waiting.add(job);
      } else if (answers.get(i) instanceof Claim.Waiting stored && stored.fresh()) {
        job.storedFresh = true; // the answer when the group goes again says that it waits
      }
    }
    next();
  }

  /** The next part, or the commit; a transaction that takes long takes no more in. */
  private void next() {
    boolean late = age().compareTo(lane().lane().hardLimit().dividedBy(2)) > 0;
    boolean full = (late && !(done.isEmpty() && dead.isEmpty())) || (apart && !done.isEmpty());
    if (full || waiting.isEmpty()) {
      cut.addAll(waiting);
      waiting.clear();
      commit();
      return;
    }
    if (savepoint == null && (apart || lane().careful())) {
      savepoint = transaction().savepoint(); // pipelined; where it fails, so does what follows
    }
    int room = apart ? 1 : lane().partSize();
    beginPart();
    boolean well = true;
    while (well && room > 0 && !waiting.isEmpty()) {
      well = invoke(waiting.remove());
      room--;
    }
    partIsWhole();
  }

  @Override
  void partEnded(EffectPart ended) {
    if (ended.succeeded()) {
      ended.members().forEach(member -> done.put(member.job, member.completed()));
      savepoint = null;
      next();
    } else if (ended.connectionLost()) {
      rollBack(() -> lane().later(this)); // an outage costs no attempt
    } else {
      lane().careful(true);
      judge(ended);
      undo(ended);
    }
  }

  /** What becomes of those who failed by themselves. */
  private void judge(EffectPart ended) {
    boolean alone = done.isEmpty() && ended.members().size() == 1;
    for (EffectPart.Member member : ended.failed()) {
      Settlement.Dead end = member.failedForGood();
      if (end == null) {
        toClaim.add(member.job);
      } else if (savepoint != null && (alone || member.failedUnasked())) {
        dead.put(member.job, end);
      } else {
        toRunApart.add(member.job);
      }
    }
  }

  /** To the savepoint, or all of it where there is none; the neighbours go again. */
  private void undo(EffectPart ended) {
    Future<Void> saved = savepoint;
    if (saved == null) {
      rollBack(this::nothingDone);
      return;
    }
    List<EffectPart.Member> members = ended.members();
    for (int i = members.size() - 1; i >= 0; i--) {
      if (!judged(members.get(i).job)) {
        waiting.addFirst(members.get(i).job);
      }
    }
    Future<Void> back = transaction().rollbackToSavepoint();
    // An older savepoint of this name would do instead, and undo the part before, too.
    undone = undone.compose(v -> saved).compose(v -> back);
    next();
  }

  private boolean judged(Job job) {
    return dead.containsKey(job) || toRunApart.contains(job) || toClaim.contains(job);
  }

  private void nothingDone() {
    Set<Job> gone = new HashSet<>(toRunApart);
    gone.addAll(toClaim);
    repeat(jobs().stream().filter(job -> !gone.contains(job)).toList());
    lane().claim(toClaim);
    lane().apart(toRunApart);
  }

  private void repeat(List<Job> others) {
    if (apart) {
      lane().apart(others);
    } else {
      lane().again(others);
    }
  }

  private void commit() {
    over();
    undone
        .compose(v -> left())
        .recover(failure -> transaction().rollback().transform(v -> Future.failedFuture(failure)))
        .onComplete(
            committed -> {
              lane().closed(this);
              if (committed.succeeded()) {
                committed();
              } else {
                notCommitted(committed.cause());
              }
            });
  }

  /** Takes out those who leave it, and commits the others. */
  private Future<Void> left() {
    List<Job> gone = new ArrayList<>(cut);
    gone.addAll(toRunApart);
    gone.addAll(toClaim);
    if (done.isEmpty() && dead.isEmpty() && !gone.isEmpty()) {
      return transaction().rollback();
    }
    Future<Void> withdrawn =
        gone.isEmpty()
            ? Future.succeededFuture()
            : transaction().withdraw(gone.stream().map(job -> job.id).toList());
    return withdrawn
        .compose(v -> dead.isEmpty() ? Future.succeededFuture() : transaction().fail(failures()))
        .compose(v -> transaction().commit(receipts()));
  }

  private List<ActivityStore.FailedEffect> failures() {
    List<ActivityStore.FailedEffect> failures = new ArrayList<>(dead.size());
    dead.forEach((job, end) -> failures.add(new ActivityStore.FailedEffect(job.id, end.error())));
    return failures;
  }

  private List<Receipt> receipts() {
    List<Receipt> receipts = new ArrayList<>(done.size());
    for (Job job : jobs()) {
      Settlement.Completed end = done.get(job);
      if (end != null) {
        receipts.add(end.receipt());
      }
    }
    return receipts;
  }

  private Settlement.@Nullable How end(Job job) {
    Settlement.How completed = done.get(job);
    return completed == null ? dead.get(job) : completed;
  }

  private void committed() {
    lane().committed();
    if (!apart) {
      lane().careful(false);
      lane().took(age(), done.size() + dead.size());
    }
    for (int i = 0; i < jobs().size(); i++) {
      Job job = jobs().get(i);
      Settlement.How end = end(job);
      Settlement.How before = job.committing;
      if (end != null) {
        committed(job, end);
      } else if (answers.get(i) instanceof Claim.Duplicate && before != null) {
        committed(job, before); // by the commit whose answer was lost
      } else if (!(answers.get(i) instanceof Claim.Started)) {
        lane().claims().answered(job, answers.get(i), askedNanos());
      }
    }
    lane().claim(toClaim);
    lane().apart(toRunApart);
    repeat(cut);
  }

  private void committed(Job job, Settlement.How end) {
    lane().runner().countStart(job); // what was rolled back never started
    lane().settler().committed(job, end);
  }

  private void notCommitted(Throwable cause) {
    if (Failures.connectionLost(cause)) {
      done.forEach((job, end) -> job.committing = end);
      dead.forEach((job, end) -> job.committing = end);
      lane().later(this); // a row that was committed answers so
    } else {
      lane().claim(jobs()); // somebody hid a failed statement: each shows its own outcome
    }
  }

  /**
   * What a group rolls back never started, and leaks no slot: its counted start does if it hangs.
   */
  @Override
  void giveUp(Run run) {
    lane().runner().close(run);
  }

  @Override
  void tooMany(int returned) {
    lane().tooMany(done.size() + returned);
    nothingDone();
  }

  @Override
  void abandoned(Job slow) {
    toClaim.add(slow);
    nothingDone();
  }

  @Override
  void broken(RuntimeException fault) {
    lane().claim(jobs()); // each shows its own outcome
  }

  @Override
  void shutDownEnded() {
    // What it rolled back never started.
  }
}
