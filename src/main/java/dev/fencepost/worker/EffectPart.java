package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.DeadLetterReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The handlers between two savepoints of a transaction: invoked together, undone together. */
final class EffectPart {
  private final List<Member> members = new ArrayList<>();
  private int awaited;
  private boolean whole;
  private long lastBackNanos;

  /** One handler in the transaction. */
  final class Member {
    final Job job;
    final Run run;
    private @Nullable Receipt receipt;
    private @Nullable Throwable error;
    private boolean back;
    private boolean invoking;
    private boolean atOnce;

    private Member(Job job, Run run) {
      this.job = job;
      this.run = run;
    }

    /** Whether its handler is being invoked. */
    void invoking(boolean now) {
      invoking = now;
    }

    void returned(@Nullable Receipt done, @Nullable Throwable failure, long nanos) {
      receipt = done;
      error = done == null && failure == null ? new Outcomes.NullReceipt() : failure;
      back = true;
      atOnce = invoking;
      awaited--;
      lastBackNanos = nanos;
    }

    /** Why it failed; null when it did not. */
    @Nullable Throwable error() {
      return error;
    }

    /**
     * Whether it failed while it was being invoked, by no error of the database: no answer of the
     * database is in that.
     */
    boolean failedUnasked() {
      return atOnce && error != null && Failures.sqlState(error) == null;
    }

    /** What it recorded early stands, as for the other kinds. */
    Settlement.Completed completed() {
      Receipt recorded = run.recorded();
      if (recorded == null) {
        recorded = receipt == null ? Receipt.succeeded() : receipt;
      }
      return new Settlement.Completed(recorded);
    }

    /**
     * How it ends if its failure is its own; null when another try may help, or when an earlier
     * statement had failed.
     */
    Settlement.@Nullable Dead failedForGood() {
      if (error == null || Failures.inFailedTransaction(error)) {
        return null;
      }
      Settlement.How end = Outcomes.failed(job.lane, job.ticket(), null, error, 0);
      return end instanceof Settlement.Dead dead
              && dead.reason() == DeadLetterReason.PERMANENT_FAILURE
          ? dead
          : null;
    }
  }

  Member add(Job job, Run run) {
    Member member = new Member(job, run);
    members.add(member);
    awaited++;
    return member;
  }

  List<Member> members() {
    return members;
  }

  /** Nobody is added any more. */
  void whole() {
    whole = true;
  }

  /** Whether all have returned. */
  boolean ended() {
    return whole && awaited == 0;
  }

  boolean succeeded() {
    return members.stream().allMatch(m -> m.error == null);
  }

  boolean connectionLost() {
    return members.stream().anyMatch(m -> m.error != null && Failures.connectionLost(m.error));
  }

  /**
   * Those who failed by themselves; all of the part where nobody owns up to it, since somebody hid
   * a failed statement.
   */
  List<Member> failed() {
    List<Member> failed = new ArrayList<>(1);
    for (Member member : members) {
      if (member.error != null && !Failures.inFailedTransaction(member.error)) {
        failed.add(member);
      }
    }
    return failed.isEmpty() ? members : failed;
  }

  /** Whether one has returned since then. */
  boolean movedSince(long nanos) {
    return awaited < members.size() && lastBackNanos - nanos > 0;
  }

  /** Those who have not returned, in the order in which they were invoked. */
  List<Member> out() {
    return members.stream().filter(member -> !member.back).toList();
  }
}
