package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.worker.ActivityStore.EffectGroup;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Opens the transactions in which effects run with their receipts. */
final class EffectStore {
  private static final Duration MARGIN = Duration.ofSeconds(5);
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final PgDatabase database;
  private final ActivityClaims claims;
  private final Settlements settlements;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final Newness newness = new Newness();

  /** What an effect's transaction needs beside its own connection. */
  record Beside(
      ActivityClaims claims, Settlements settlements, BatchLedger batches, KeyReleases releases) {}

  /**
   * @param database its pool is used for effects only
   */
  EffectStore(PgDatabase database, Beside beside) {
    this.database = database;
    this.claims = beside.claims;
    this.settlements = beside.settlements;
    this.batches = beside.batches;
    this.releases = beside.releases;
  }

  Future<EffectGroup> fresh(String owner, Duration hardLimit, List<Claim.Request> group) {
    List<Claim.Request> unique = unique(group);
    return claims
        .behind(unique)
        .compose(
            behind -> {
              List<Claim.Request> first = ClaimGroups.pick(unique, behind, false);
              List<Claim.Request> later = ClaimGroups.pick(unique, behind, true);
              return claims
                  .waiting(later)
                  .compose(waiting -> insert(owner, hardLimit, new Fresh(group, first, waiting)));
            });
  }

  private static List<Claim.Request> unique(List<Claim.Request> group) {
    Set<ActivityId> seen = new HashSet<>();
    return ClaimGroups.sorted(group).stream().filter(r -> seen.add(r.id())).toList();
  }

  /**
   * @param first those that may start; {@code answered} the others
   */
  private record Fresh(
      List<Claim.Request> group,
      List<Claim.Request> first,
      Map<ActivityId, Claim.Answer> answered) {}

  private Future<EffectGroup> insert(String owner, Duration hardLimit, Fresh fresh) {
    return newness.assume(fresh.first, allNew -> insert(owner, hardLimit, fresh, allNew));
  }

  private Future<EffectGroup> insert(
      String owner, Duration hardLimit, Fresh fresh, boolean allNew) {
    Tuple values = FirstStarts.of(fresh.first).columns(owner).tuple();
    return open(
        hardLimit,
        effects ->
            allNew
                ? effects
                    .insertNew(database.sql(EffectSql.INSERT_NEW), values)
                    .map(v -> effects.answered(allStarted(owner, fresh), fresh.group))
                : effects
                    .insert(database.sql(EffectSql.INSERT), values)
                    .compose(inserted -> known(fresh, inserted))
                    .map(
                        known ->
                            effects.answered(answers(owner, fresh.group, known), fresh.group)));
  }

  private static List<Claim.Answer> allStarted(String owner, Fresh fresh) {
    if (fresh.first.size() < fresh.group.size()) {
      return answers(owner, fresh.group, started(fresh, fresh.first));
    }
    List<Claim.Answer> answers = new ArrayList<>(fresh.group.size());
    for (Claim.Request request : fresh.group) {
      answers.add(new Claim.Started(ClaimGroups.first(ClaimGroups.storable(request))));
    }
    return answers;
  }

  private Future<Map<ActivityId, Claim.Answer>> known(Fresh fresh, Set<ActivityId> inserted) {
    Map<ActivityId, Claim.Answer> known =
        started(fresh, fresh.first.stream().filter(r -> inserted.contains(r.id())).toList());
    return claims
        .existing(ClaimGroups.unanswered(fresh.first, known))
        .map(
            existing -> {
              known.putAll(existing);
              return known;
            });
  }

  private static Map<ActivityId, Claim.Answer> started(Fresh fresh, List<Claim.Request> rows) {
    Map<ActivityId, Claim.Answer> known = new HashMap<>(fresh.answered);
    rows.forEach(r -> known.put(r.id(), new Claim.Started(ClaimGroups.first(r))));
    return known;
  }

  private static List<Claim.Answer> answers(
      String owner, List<Claim.Request> group, Map<ActivityId, Claim.Answer> known) {
    if (group.stream().anyMatch(r -> !known.containsKey(ClaimGroups.storable(r.id())))) {
      throw new FencepostException(
          FailureKind.DATABASE_CONFLICT, "rows of a group of effects came and went");
    }
    return ClaimGroups.inOrder(owner, group, known);
  }

  Future<EffectGroup> claimed(
      String owner, Duration hardLimit, Claim.Ticket ticket, Delivery.@Nullable Envelope envelope) {
    ActivityId id = ClaimGroups.storable(ticket.id());
    Tuple values = Tuple.of(owner, id.consumer(), id.eventId(), ticket.fence());
    Claim.Request request =
        envelope == null ? null : new Claim.Request(id, ticket.work(), null, false, envelope);
    return open(
            hardLimit,
            effects ->
                effects
                    .complete(database.sql(EffectSql.COMPLETE), values)
                    .map(
                        key ->
                            effects.claimed(
                                ticket, request, () -> committed(ticket, id, key.orElse(null)))))
        .recover(failure -> lost(owner, ticket, values, failure));
  }

  private Future<Void> committed(Claim.Ticket ticket, ActivityId id, @Nullable String key) {
    batches.ended(ticket);
    KeyReleases.Keys ended = new KeyReleases.Keys();
    ended.ended(id, key);
    return releases.after(true, ended).mapEmpty();
  }

  /** The row is not ours to complete: it has been completed by us before, or is another's. */
  private Future<EffectGroup> lost(
      String owner, Claim.Ticket ticket, Tuple values, Throwable failure) {
    if (!FencepostException.is(failure, FailureKind.LEASE_LOST)) {
      return Future.failedFuture(failure);
    }
    return database
        .with(
            DurableWork.DEADLINE,
            connection -> connection.preparedQuery(database.sql(EffectSql.APPLIED)).execute(values))
        .compose(
            rows -> {
              for (Row row : rows) {
                batches.ended(ticket);
                ActivityState state = ActivityState.ofWire(row.getString("state"));
                return Future.succeededFuture(
                    new AppliedEffects(new Claim.Duplicate(state, ticket.retries())));
              }
              return takenOver(owner, ticket, failure);
            });
  }

  private Future<EffectGroup> takenOver(String owner, Claim.Ticket ticket, Throwable failure) {
    batches.lost(ticket);
    Receipt none = new Receipt(ReceiptOutcome.SUCCEEDED, "not begun");
    return database
        .with(
            DurableWork.DEADLINE,
            connection ->
                settlements.missed(connection, owner, List.of(Settlements.ofReceipt(ticket, none))))
        .compose(v -> Future.failedFuture(failure));
  }

  /** The connection is kept until the group has ended, or its deadline has. */
  private Future<EffectGroup> open(
      Duration hardLimit, Function<OpenEffects, Future<EffectGroup>> begin) {
    Promise<EffectGroup> opened = Promise.promise();
    Duration limit = hardLimit.plus(MARGIN);
    database
        .with(
            limit.plus(limit).plus(WAIT),
            connection -> {
              OpenEffects effects = new OpenEffects(database, connection, limit);
              return hold(effects, begin.apply(effects), opened);
            })
        .onFailure(opened::tryFail);
    return opened.future();
  }

  private static Future<Void> hold(
      OpenEffects effects, Future<EffectGroup> begun, Promise<EffectGroup> opened) {
    return begun
        .recover(failure -> effects.rollback().transform(v -> Future.failedFuture(failure)))
        .compose(group -> opened.tryComplete(group) ? effects.ended() : effects.abandon());
  }
}
