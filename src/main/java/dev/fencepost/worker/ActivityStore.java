package dev.fencepost.worker;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RecoveryDecision;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Port: activities, attempts, receipts, dead letters and audit in the database. Groups go in one
 * statement each; time is the database's; everything after a claim is compared on owner and fence.
 * Fails with a {@link dev.fencepost.model.FencepostException}; after kind TIMEOUT or
 * DATABASE_UNREACHABLE nothing is known of what was asked.
 */
public interface ActivityStore {

  /**
   * Who is told of the dead letters that this store's requests write beside what they are asked
   * for, each once it is durable: of events that had used up their starts when they were due, whose
   * message came at last, whose type nobody knew for too long, whose lease had expired, or whose
   * settlement a receipt overruled. Those that {@link #settle}, an {@link EffectGroup} or {@link
   * #poison} is asked for are in its answer. A request whose answer is lost tells of none.
   */
  void onDeadLetter(Consumer<DeadLettered> told);

  /**
   * Claims a group: counts each start before it runs. Two requests of one event in a group: the
   * second is answered {@link Claim.Held}. Where the queue is ordered by key, an event behind a
   * waiting one of its key (any earlier row of the key that has not ended, running ones included)
   * is stored as blocked and answered {@link Claim.Waiting}. A row awaiting its message takes it,
   * goes on as its decision said (a retry becomes due now) and is answered {@link Claim.Waiting} or
   * {@link Claim.Duplicate}: a plain claim never starts a suspect.
   *
   * @param owner unique per process start
   */
  Future<List<Claim.Answer>> claim(String owner, List<Claim.Request> group);

  /**
   * Stores deliveries that are not to wait for a slot any longer, with their messages: due now, or
   * blocked behind an event of their key. No start is counted. Answered as claims are, but nothing
   * is started: {@link Claim.Waiting} for what is stored.
   */
  Future<List<Claim.Answer>> defer(List<Claim.Request> group);

  /**
   * Settles a group. Where the outcome is timed_out or unknown the fence is raised by one, so that
   * the run that may go on can record nothing any more.
   *
   * <p>Asked again after an unknown answer, a settlement that has been applied is answered true and
   * changes nothing (the attempt of its fence has ended with its outcome).
   *
   * @return per settlement whether the row was still ours; where it was not, nothing changed but
   *     the audit log (the late result is kept as evidence)
   */
  Future<List<Boolean>> settle(String owner, List<Settlement> group);

  /**
   * The result of a run that its hard limit or another owner had ended: an audit line with the
   * evidence, nothing else.
   */
  Future<Void> recordLate(
      String owner, Claim.Ticket ticket, @Nullable Receipt receipt, @Nullable ErrorInfo error);

  /**
   * Keeps the message of an activity that has not ended and lacks it, so that it can be
   * acknowledged while somebody else holds the lease. False when there is no such row any more
   * (purged): claim again.
   */
  Future<Boolean> keepBody(ActivityId id, Delivery.Envelope envelope);

  /** Records a receipt ahead of the settlement; false when the lease was lost. */
  Future<Boolean> recordReceipt(String owner, Claim.Ticket ticket, Receipt receipt);

  /** A held lease and the progress to store with its renewal (null: none new). */
  record Renewal(ActivityId id, long fence, @Nullable Long progressSeq, @Nullable String phase) {}

  /** What has become of a lease that was to be extended. */
  enum Renewed {
    /** It is extended, and the progress stored. */
    STORED,
    /** Somebody has locked the row: still held, and nothing is written. */
    SKIPPED,
    /** Somebody has taken over. */
    LOST
  }

  /** Extends leases of one type; an answer per renewal. */
  Future<List<Renewed>> renew(String owner, Duration ttl, List<Renewal> group);

  /**
   * Those of the consumers for which {@link #claimDue} or {@link #claimSuspect} may find anything:
   * costs next to nothing when there are none, however many are asked about.
   */
  Future<Set<String>> mayBeDue(Set<String> consumers);

  /**
   * Is told, on any thread, of each consumer of which an event is due now, since the one before it
   * of its key has ended through this store: the events of a key follow each other, and must not
   * wait for a look each.
   *
   * @param told the only one from now on
   */
  void onReleased(Consumer<String> told);

  /**
   * Starts due retries, oldest first, within the free slots of each type. Suspects (whose last
   * start ended with its process) are left to {@link #claimSuspect}.
   *
   * @param free type → starts allowed now (concurrency and retry budget have been asked)
   */
  Future<List<Claim.Due>> claimDue(String owner, String consumer, Map<String, Slots> free);

  /**
   * Starts one suspect that is due, of these types; each waits for its turn unclaimed, so that a
   * message that kills its process costs the others no start.
   *
   * @return null inside the future when there is none
   */
  Future<Claim.@Nullable Due> claimSuspect(
      String owner, String consumer, Map<String, Claim.Work> types);

  /**
   * @param work the configuration in force, which the start takes over
   * @param free starts of any kind
   * @param first starts beside them for events that have not been started yet: what the retry
   *     budget denies is not denied to them
   */
  record Slots(Claim.Work work, int free, int first) {
    public Slots(Claim.Work work, int free) {
      this(work, free, 0);
    }
  }

  /**
   * Those of the consumers for which {@link #expired} may find anything: one small question for all
   * of them.
   */
  Future<Set<String>> mayNeedSweep(Set<String> consumers);

  /**
   * Running activities of the consumer whose lease has expired, by expiry and event id (one claim
   * statement gives many rows the same expiry).
   *
   * @param after the last one of the page before, null at the start of a pass
   */
  Future<List<Evidence>> expired(String consumer, @Nullable Evidence after, int page);

  /**
   * Carries out a decision on an expired activity if its fence is still the evidence's: raises the
   * fence, appends the lost attempt (its owner, fence, phase, progress) and an audit line with the
   * decision. retry_same_activity makes it due now as a suspect, or awaiting its message when there
   * is no body; exhausted and record_failure write the dead letter (awaiting the message when there
   * is no body).
   *
   * @param envelope the message when it is at hand: kept where the row lacks its body
   * @return false when somebody else was faster: nothing changed
   */
  Future<Boolean> recover(
      String owner,
      Evidence evidence,
      RecoveryDecision decision,
      Delivery.@Nullable Envelope envelope);

  /**
   * Takes the lease of an expired queryable activity in order to probe it: fence + 1, the lost
   * attempt appended, no start counted. Ends by {@link #settleProbed}.
   *
   * @return null inside the future when somebody else was faster
   */
  Future<@Nullable Hold> holdForProbe(String owner, Evidence evidence, Claim.Work work);

  /**
   * A lease held for a probe.
   *
   * @param envelope the message, null when the row lacks it
   */
  record Hold(Claim.Ticket ticket, @Nullable String key, Delivery.@Nullable Envelope envelope) {}

  /**
   * Ends a hold by the table's decision on the probe's answer, as {@link #recover} does, without
   * another lost attempt; the answer is kept as evidence.
   *
   * @param envelope the message when it is at hand
   * @return false when the lease was lost: nothing changed
   */
  Future<Boolean> settleProbed(
      String owner, Claim.Ticket held, Probed probed, Delivery.@Nullable Envelope envelope);

  /**
   * What a probe led to.
   *
   * @param receipt what it answered; null unless the decision records an outcome
   * @param delay until it runs again, where that is the decision
   */
  record Probed(
      RecoveryDecision decision, @Nullable Receipt receipt, String answer, Duration delay) {}

  /**
   * Opens a transaction for effects. Unclaimed requests insert their rows as completed, with
   * receipt and attempt; what the transaction does not commit was never started.
   */
  Future<EffectGroup> beginEffects(String owner, Duration hardLimit, List<Claim.Request> fresh);

  /**
   * The same for one effect that was claimed before (redelivered, retried, split off).
   *
   * <p>Asked again after a commit without an answer that has been applied, it is answered {@link
   * Claim.Duplicate}, and there is nothing to run.
   *
   * @param envelope for the dead letter of a receipt that says failed, where the row lacks it
   * @return fails with kind LEASE_LOST when the row is no longer ours; that leaves an audit line
   */
  Future<EffectGroup> beginEffect(
      String owner, Duration hardLimit, Claim.Ticket claimed, Delivery.@Nullable Envelope envelope);

  /**
   * An open transaction with the rows of its effects, on a connection of the pool that only effects
   * use: a slow effect starves no claim.
   */
  interface EffectGroup {
    /**
     * Per request: {@link Claim.Started} runs now, on {@link #connection}; others as for a claim.
     */
    List<Claim.Answer> answers();

    SqlConnection connection();

    /**
     * Stores receipts that have a body or failed, and commits; receipts in the order of the Started
     * ones. Fails when the transaction had been aborted (a handler that hid its failed statement):
     * PostgreSQL answers such a COMMIT with ROLLBACK, not with an error.
     */
    Future<Void> commit(List<Receipt> receipts);

    Future<Void> rollback();

    /** Statements from here on can be undone by {@link #rollbackToSavepoint}; may be renewed. */
    Future<Void> savepoint();

    /** Undoes what came after the newest savepoint, and heals an aborted transaction. */
    Future<Void> rollbackToSavepoint();

    /**
     * Takes Started ones out again: as if they had not been in the group. No handler runs from here
     * on.
     */
    Future<Void> withdraw(List<ActivityId> ids);

    /**
     * Started ones that failed for good, whose work has been undone: with the commit they are dead,
     * each with its dead letter, as if a claimed start had been settled so. No handler runs from
     * here on. None of {@link #commit}'s receipts is theirs.
     */
    Future<Void> fail(List<FailedEffect> failed);

    /**
     * For a handler that has not come back: cancels the running statement, rolls back, and closes
     * the connection instead of giving it back.
     */
    Future<Void> abandon();
  }

  /** An effect of a group that failed for good, and why. */
  record FailedEffect(ActivityId id, ErrorInfo error) {}

  /**
   * A dead letter poison_message; where the identity is known, as that of poison or of any event,
   * nothing changes.
   *
   * @return whether it was written
   */
  Future<Boolean> poison(
      ActivityId identity, @Nullable String type, Delivery.Envelope envelope, ErrorInfo error);

  /** A dead letter of which the queue's exchange has had no copy yet. */
  record Uncopied(long id, ActivityId event, DeadLetterReason reason, Delivery.Envelope envelope) {}

  /**
   * Dead letters that have not been copied, whoever wrote them, oldest first. Nobody else is given
   * them for {@code lease}; they come again unless {@link #copied} is told of them. Those without a
   * body wait for it, those older than {@code giveUpAfter} are left.
   */
  Future<List<Uncopied>> uncopied(String consumer, Duration lease, Duration giveUpAfter, int page);

  /** Their copies are with the broker. */
  Future<Void> copied(List<Long> ids);

  /** Stores a message whose type nobody here knows; it is claimable once its type is. */
  Future<Void> storeUnresolved(
      ActivityId id, String type, @Nullable String key, Delivery.Envelope envelope);

  /**
   * Makes unresolved rows of known types due, and those older than {@code cap} of other types
   * poison.
   */
  Future<Integer> resolveTypes(String consumer, List<String> known, Duration cap, int page);

  /** A run is silent beyond its progress timeout: an audit line, once per silence. */
  Future<Void> recordStall(Claim.Ticket ticket, Duration silence);

  /** Whether a retry of the type is due now; suspects and what waits for its message are not. */
  Future<Boolean> hasDue(String consumer, String type);

  /**
   * Fleet-wide starts of the current window of a type with a retry budget, after adding ours.
   *
   * @param firstStarts by their age in whole seconds, from 0; counted each in its second
   * @param retries counted in the current one
   */
  Future<BudgetCounts> countStarts(String consumer, String type, long[] firstStarts, long retries);

  /** Takes retries that were counted in that second, and have not started, out of it again. */
  Future<Void> uncountRetries(String consumer, String type, long second, long retries);

  /**
   * @param second in which our retries were counted, by the database's clock
   */
  record BudgetCounts(long firstStarts, long retries, long second) {}

  /** Open reviews, due retries and the like per consumer, bounded: never a full count. */
  Future<Long> openReviews(String consumer);

  /**
   * Deletes plainly completed, never taken over, not irreversible activities older than that; a
   * page.
   */
  Future<Integer> purge(String consumer, Duration olderThan, int page);
}
