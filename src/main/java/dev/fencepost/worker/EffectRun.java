package dev.fencepost.worker;

import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transaction of effects, from its begin to its end: its handlers are invoked one after another
 * without waiting, so that their statements are pipelined, and its limits are kept. What a
 * handler's end means, and how the transaction ends, is the business of {@link SharedEffects} and
 * {@link ClaimedEffect}.
 */
abstract class EffectRun {
  /** Whose transaction it is. */
  enum Sort {
    /** Fresh ones, whatever has piled up. */
    SHARED,
    /** Fresh ones that failed beside others, each by itself. */
    APART,
    /** One that has been claimed. */
    CLAIMED
  }

  private static final Logger LOG = LoggerFactory.getLogger(EffectRun.class);

  private final EffectLane lane;
  private final List<Job> jobs;
  private final Sort sort;
  private final long askedNanos;
  private long openedNanos;
  private ActivityStore.@Nullable EffectGroup group;
  private EffectPart part = new EffectPart();
  private boolean over;

  EffectRun(EffectLane lane, List<Job> jobs, Sort sort) {
    this.lane = lane;
    this.jobs = jobs;
    this.sort = sort;
    this.askedNanos = lane.env().timers().nanos();
  }

  /** Asks the store for the transaction. */
  abstract Future<ActivityStore.EffectGroup> open();

  /** There is none; the lane has been told that this one is over. */
  abstract void notBegun(Throwable cause);

  /** The answers are there: hands out the first part. */
  abstract void begun(List<Claim.Answer> answers);

  /** All handlers of the part have returned. */
  abstract void partEnded(EffectPart ended);

  /** A handler that has not returned is not waited for any more. */
  abstract void giveUp(Run run);

  /** Rolled back, since this one had not returned by the hard limit. */
  abstract void abandoned(Job slow);

  /** Rolled back, since so many had returned by the hard limit, and the others had not. */
  abstract void tooMany(int returned);

  /** Rolled back, since code of ours failed. */
  abstract void broken(RuntimeException fault);

  /** Rolled back by the shutdown. */
  abstract void shutDownEnded();

  EffectLane lane() {
    return lane;
  }

  List<Job> jobs() {
    return jobs;
  }

  Sort sort() {
    return sort;
  }

  /** Before anything was sent: what the answers say of leases counts from there. */
  long askedNanos() {
    return askedNanos;
  }

  /** For how long it has been open; the wait for a connection is none of it. */
  Duration age() {
    return Duration.ofNanos(lane.env().timers().nanos() - openedNanos);
  }

  void begin() {
    Guarded.call(this::open)
        .onComplete(
            begun -> {
              if (begun.succeeded()) {
                ActivityStore.EffectGroup made = begun.result();
                openedNanos = lane.env().timers().nanos();
                group = made;
                guarded(() -> begun(made.answers()));
              } else {
                lane.closed(this);
                notBegun(begun.cause());
              }
            });
  }

  ActivityStore.EffectGroup transaction() {
    if (group == null) {
      throw new IllegalStateException("the transaction has not begun");
    }
    return group;
  }

  /** Handlers from here on are of the next part, until {@link #partIsWhole}. */
  void beginPart() {
    part = new EffectPart();
  }

  /**
   * Invokes a handler in the part.
   *
   * @return false when it has failed already: nobody need be invoked behind it
   */
  boolean invoke(Job job) {
    EffectPart.Member member = part.add(job, lane.runner().begin(job, sort == Sort.CLAIMED));
    EffectHandler handler = ((BoundHandler.Effect) lane.lane().handler()).handler();
    Future<Receipt> result =
        lane.runner().watched(job, () -> handler.run(member.run, transaction().connection()));
    member.invoking(true);
    result.onComplete(
        answer -> lane.runner().onContext(() -> returned(member, answer.result(), answer.cause())));
    member.invoking(false);
    return member.error() == null;
  }

  void partIsWhole() {
    part.whole();
    endPart();
  }

  private void returned(
      EffectPart.Member member, @Nullable Receipt receipt, @Nullable Throwable error) {
    if (!member.run.returned()) {
      lane.runner().late(member.run, receipt, error);
      return;
    }
    lane.runner().count(member.run);
    member.returned(receipt, error, lane.env().timers().nanos());
    endPart();
  }

  private void endPart() {
    if (part.ended() && !over) {
      EffectPart ended = part;
      guarded(() -> partEnded(ended));
    }
  }

  /** A fault of ours must not leave a transaction open for which nobody waits. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException fault) {
      LOG.error("a transaction of effects is given up", fault);
      if (group != null && !over) {
        giveUpAll();
        abandon(() -> broken(fault));
      }
    }
  }

  private void abandon(Runnable then) {
    Guarded.call(() -> transaction().abandon())
        .onComplete(
            done -> {
              lane.closed(this);
              then.run();
            });
  }

  /** Nobody is waited for any more; those who have not returned. */
  private List<EffectPart.Member> giveUpAll() {
    over = true;
    List<EffectPart.Member> out = part.out();
    out.forEach(member -> giveUp(member.run));
    return out;
  }

  /** From here on its limits, and what its handlers still do, are of no interest. */
  void over() {
    over = true;
  }

  /** Ends it with nothing done. */
  void rollBack(Runnable then) {
    over = true;
    Guarded.call(() -> transaction().rollback())
        .onComplete(
            any -> {
              lane.closed(this);
              then.run();
            });
  }

  /** Looks at the limits; the hard one cancels the statement and rolls everything back. */
  void checkLimits(long now) {
    if (over || part.members().isEmpty()) {
      return;
    }
    long age = now - part.members().get(0).run.startedNanos();
    long hard = lane.lane().hardLimit().toNanos();
    if (age > hard && part.movedSince(now - hard / 2)) {
      tooMany();
    } else if (age > hard) {
      hardLimit();
    } else if (age > lane.lane().softLimit().toNanos()) {
      part.out().forEach(member -> lane.runner().softLimit(member.run));
    }
  }

  /** The first that has not come back held the others up; it is the one that is charged. */
  private void hardLimit() {
    List<EffectPart.Member> out = giveUpAll();
    if (out.isEmpty()) {
      return;
    }
    EffectPart.Member slow = out.get(0);
    WorkerLog.hardLimit(slow.job, slow.run.ticket(), "transient");
    abandon(() -> abandoned(slow.job));
  }

  /** They return one after the other, but are too many together: nobody is charged for that. */
  private void tooMany() {
    int returned = part.members().size() - giveUpAll().size();
    abandon(() -> tooMany(returned));
  }

  /** The shutdown's deadline found it open: rolled back, as if it had never started. */
  void shutDown() {
    if (over || group == null) {
      return;
    }
    giveUpAll();
    abandon(this::shutDownEnded);
  }
}
