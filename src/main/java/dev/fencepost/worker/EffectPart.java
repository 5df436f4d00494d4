package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The handlers between two savepoints of a transaction: invoked together, undone together. */
final class EffectPart {
  private final List<Member> members;
  private int awaited;

  /** One handler in the transaction. */
  static final class Member {
    final Job job;
    final Run run;
    private @Nullable Receipt receipt;
    private @Nullable Throwable error;

    Member(Job job, Run run) {
      this.job = job;
      this.run = run;
    }

    boolean back() {
      return receipt != null || error != null;
    }

    /** Why it failed; null when it did not. */
    @Nullable Throwable error() {
      return error;
    }

    /** What it recorded early stands, as for the other kinds. */
    Receipt outcome() {
      Receipt recorded = run.recorded();
      if (recorded != null) {
        return recorded;
      }
      return receipt == null ? Receipt.succeeded() : receipt;
    }
  }

  EffectPart(List<Member> members) {
    this.members = List.copyOf(members);
    this.awaited = members.size();
  }

  List<Member> members() {
    return members;
  }

  /**
   * A handler has returned.
   *
   * @return whether it was the last
   */
  boolean returned(Member member, @Nullable Receipt receipt, @Nullable Throwable error) {
    member.receipt = receipt;
    member.error = receipt == null && error == null ? new Outcomes.NullReceipt() : error;
    awaited--;
    return awaited == 0;
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
  List<Job> failed() {
    List<Job> failed = new ArrayList<>(1);
    for (Member member : members) {
      if (member.error != null && !Failures.inFailedTransaction(member.error)) {
        failed.add(member.job);
      }
    }
    return failed.isEmpty() ? members.stream().map(member -> member.job).toList() : failed;
  }

  /** Those who have not returned, in the order in which they were invoked. */
  List<Member> out() {
    return members.stream().filter(member -> !member.back()).toList();
  }
}
