package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.worker.ActivityStore;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.DeadLettered;
import dev.fencepost.worker.Evidence;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Activities in PostgreSQL: which part of this room does what. */
public final class PgActivityStore implements ActivityStore {
  private final ActivityClaims claims;
  private final DueClaims dueClaims;
  private final Settlements settlements;
  private final Leases leases;
  private final Recoveries recoveries;
  private final EffectStore effects;
  private final Upkeep upkeep;
  private final UncopiedDeadLetters copies;
  private final WrittenLetters letters = new WrittenLetters();
  private volatile Consumer<String> released = consumer -> {};

  /**
   * @param database for everything but effects
   * @param effectDatabase its pool is used by effects only: a slow one starves no claim
   */
  public PgActivityStore(PgDatabase database, PgDatabase effectDatabase) {
    this(database, effectDatabase, Pulse.Ages.USUAL);
  }

  PgActivityStore(PgDatabase database, PgDatabase effectDatabase, Pulse.Ages ages) {
    DurableWork work = new DurableWork(database);
    BatchLedger batches = new BatchLedger();
    Pulse pulse = new Pulse(work, ages);
    KeyReleases releases =
        new KeyReleases(
            work,
            consumer -> {
              pulse.scheduled(Duration.ZERO);
              released.accept(consumer);
            });
    claims = new ActivityClaims(work, batches, releases, letters, pulse);
    dueClaims = new DueClaims(work, batches, releases, letters, pulse);
    settlements = new Settlements(work, batches, releases, letters, pulse);
    leases = new Leases(work, settlements, batches);
    recoveries = new Recoveries(work, batches, releases, letters, pulse);
    effects =
        new EffectStore(
            effectDatabase, new EffectStore.Beside(claims, settlements, batches, releases));
    upkeep = new Upkeep(work, releases, letters, pulse);
    copies = new UncopiedDeadLetters(work);
  }

  @Override
  public void onDeadLetter(Consumer<DeadLettered> told) {
    letters.onDeadLetter(told);
  }

  @Override
  public Future<List<Claim.Answer>> claim(String owner, List<Claim.Request> group) {
    return claims.claim(owner, group);
  }

  @Override
  public Future<List<Claim.Answer>> defer(List<Claim.Request> group) {
    return claims.defer(group);
  }

  @Override
  public Future<List<Boolean>> settle(String owner, List<Settlement> group) {
    return settlements.settle(owner, group);
  }

  @Override
  public Future<Void> recordLate(
      String owner, Claim.Ticket ticket, @Nullable Receipt receipt, @Nullable ErrorInfo error) {
    return upkeep.audit(
        new Upkeep.Start(ticket.id(), ticket.generation(), ticket.fence()),
        new Upkeep.Line(
            owner, "late_result", Settlements.evidence(receipt, error), "after its lease"));
  }

  @Override
  public Future<Boolean> keepBody(ActivityId id, Delivery.Envelope envelope) {
    return claims.keepBody(message(id, "", null, envelope));
  }

  /** A message of which no more is known than this. */
  private static Claim.Request message(
      ActivityId id, String type, @Nullable String key, Delivery.Envelope envelope) {
    Claim.Work none = new Claim.Work(type, ActivityKind.IRREVERSIBLE, 1, 0, Duration.ZERO);
    return new Claim.Request(ClaimGroups.storable(id), none, key, false, envelope);
  }

  @Override
  public Future<Boolean> recordReceipt(String owner, Claim.Ticket ticket, Receipt receipt) {
    return leases.recordReceipt(owner, ticket, receipt);
  }

  @Override
  public Future<List<Renewed>> renew(String owner, Duration ttl, List<Renewal> group) {
    return leases.renew(owner, ttl, group);
  }

  @Override
  public void onReleased(Consumer<String> told) {
    released = told;
  }

  @Override
  public Future<Set<String>> mayBeDue(Set<String> consumers) {
    return dueClaims.any(consumers);
  }

  @Override
  public Future<List<Claim.Due>> claimDue(String owner, String consumer, Map<String, Slots> free) {
    return dueClaims.due(owner, consumer, free);
  }

  @Override
  public Future<Claim.@Nullable Due> claimSuspect(
      String owner, String consumer, Map<String, Claim.Work> types) {
    return dueClaims.suspect(owner, consumer, types);
  }

  @Override
  public Future<Set<String>> mayNeedSweep(Set<String> consumers) {
    return recoveries.mayNeedSweep(consumers);
  }

  @Override
  public Future<List<Evidence>> expired(String consumer, @Nullable Evidence after, int page) {
    return recoveries.expired(consumer, after, page);
  }

  @Override
  public Future<Boolean> recover(
      String owner,
      Evidence evidence,
      RecoveryDecision decision,
      Delivery.@Nullable Envelope envelope) {
    return recoveries.recover(owner, evidence, decision, envelope);
  }

  @Override
  public Future<@Nullable Hold> holdForProbe(String owner, Evidence evidence, Claim.Work work) {
    return recoveries.hold(owner, evidence, work);
  }

  @Override
  public Future<Boolean> settleProbed(
      String owner, Claim.Ticket held, Probed probed, Delivery.@Nullable Envelope envelope) {
    return recoveries.settleProbed(owner, held, probed, envelope);
  }

  @Override
  public Future<EffectGroup> beginEffects(
      String owner, Duration hardLimit, List<Claim.Request> fresh) {
    return effects.fresh(owner, hardLimit, fresh);
  }

  @Override
  public Future<EffectGroup> beginEffect(
      String owner,
      Duration hardLimit,
      Claim.Ticket claimed,
      Delivery.@Nullable Envelope envelope) {
    return effects.claimed(owner, hardLimit, claimed, envelope);
  }

  @Override
  public Future<Boolean> poison(
      ActivityId identity, @Nullable String type, Delivery.Envelope envelope, ErrorInfo error) {
    return upkeep.poison(identity, type, envelope, error);
  }

  @Override
  public Future<List<Uncopied>> uncopied(
      String consumer, Duration lease, Duration giveUpAfter, int page) {
    return copies.take(consumer, lease, giveUpAfter, page);
  }

  @Override
  public Future<Void> copied(List<Long> ids) {
    return copies.done(ids);
  }

  @Override
  public Future<Boolean> hasDue(String consumer, String type) {
    return dueClaims.any(consumer, type);
  }

  @Override
  public Future<Void> storeUnresolved(
      ActivityId id, String type, @Nullable String key, Delivery.Envelope envelope) {
    return claims.unresolved(message(id, type, key, envelope));
  }

  @Override
  public Future<Integer> resolveTypes(String consumer, List<String> known, Duration cap, int page) {
    return upkeep.resolveTypes(consumer, known, cap, page);
  }

  @Override
  public Future<Void> recordStall(Claim.Ticket ticket, Duration silence) {
    return upkeep.audit(
        new Upkeep.Start(ticket.id(), ticket.generation(), ticket.fence()),
        new Upkeep.Line("worker", "stalled", null, "silent=" + silence.toSeconds() + "s"));
  }

  @Override
  public Future<BudgetCounts> countStarts(
      String consumer, String type, long[] firstStarts, long retries) {
    return upkeep.countStarts(consumer, type, firstStarts, retries);
  }

  @Override
  public Future<Void> uncountRetries(String consumer, String type, long second, long retries) {
    return upkeep.uncountRetries(consumer, type, second, retries);
  }

  @Override
  public Future<Long> openReviews(String consumer) {
    return upkeep.openReviews(consumer);
  }

  @Override
  public Future<Integer> purge(String consumer, Duration olderThan, int page) {
    return upkeep.purge(consumer, olderThan, page);
  }
}
