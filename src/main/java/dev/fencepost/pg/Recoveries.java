package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.flow.Steps;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.RecoveryDecision;
import dev.fencepost.worker.ActivityStore.Hold;
import dev.fencepost.worker.ActivityStore.Probed;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds activities whose lease has expired and carries out what was decided about them. */
final class Recoveries {
  private static final int TIDY_PAGE = 1000;

  private final DurableWork work;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final WrittenLetters letters;
  private final Pulse pulse;

  Recoveries(
      DurableWork work,
      BatchLedger batches,
      KeyReleases releases,
      WrittenLetters letters,
      Pulse pulse) {
    this.work = work;
    this.pulse = pulse;
    this.letters = letters;
    this.batches = batches;
    this.releases = releases;
  }

  Future<Set<String>> mayNeedSweep(Set<String> consumers) {
    return pulse.mayNeedSweep(consumers);
  }

  Future<List<Evidence>> expired(String consumer, @Nullable Evidence after, int page) {
    return after == null
        ? Pulse.when(
            pulse.mayNeedSweep(consumer),
            () ->
                tidy(consumer)
                    .compose(v -> stranded(consumer))
                    .compose(v -> page(consumer, null, page)),
            List.of())
        : page(consumer, after, page);
  }

  private Future<Void> stranded(String consumer) {
    return execute(RecoverySql.STRANDED, Tuple.of(consumer))
        .map(
            rows -> {
              if (rows.rowCount() > 0) {
                pulse.scheduled(Duration.ZERO);
              }
              return null;
            });
  }

  private Future<List<Evidence>> page(String consumer, @Nullable Evidence after, int page) {
    Tuple values =
        Tuple.of(
            consumer,
            after == null ? null : after.lease().untilMicros(),
            after == null ? null : after.id().eventId(),
            (long) page);
    return execute(RecoverySql.EXPIRED, values)
        .map(
            rows -> {
              List<Evidence> found = new ArrayList<>(rows.size());
              rows.forEach(row -> found.add(ActivityRows.evidence(row)));
              return found;
            });
  }

  private Future<Void> tidy(String consumer) {
    return Steps.until(
        () ->
            execute(RecoverySql.TIDY_BATCHES, Tuple.of(consumer))
                .map(rows -> rows.iterator().next().getLong("moved") >= TIDY_PAGE));
  }

  private Future<RowSet<Row>> execute(String statement, Tuple values) {
    return work.execute(work.sql(statement), values);
  }

  Future<Boolean> recover(
      String owner,
      Evidence evidence,
      RecoveryDecision decision,
      Delivery.@Nullable Envelope envelope) {
    if (decision == RecoveryDecision.WAIT) {
      return Future.succeededFuture(false);
    }
    Change change =
        new Change(
            evidence.id(),
            evidence.holder().fence(),
            aim(decision, null, Duration.ZERO),
            new Change.Ended(outcome(decision), null, true, true, true),
            new Change.Note("takeover", takeover(evidence, decision.wire()), null),
            envelope);
    return carryOut(new Change.By(null, true, owner), change);
  }

  private static String takeover(Evidence evidence, String decision) {
    Evidence.Holder holder = evidence.holder();
    return "from="
        + holder.owner()
        + " fence="
        + holder.fence()
        + "->"
        + (holder.fence() + 1)
        + " phase="
        + (holder.phase() == null ? "" : holder.phase())
        + " progress="
        + (holder.progress() == null ? "" : holder.progress())
        + " decision="
        + decision;
  }

  private static Change.Aim aim(
      RecoveryDecision decision, @Nullable Receipt receipt, Duration delay) {
    return switch (decision) {
      case RECORD_COMPLETION -> Change.Aim.completed(receipt);
      case RECORD_FAILURE ->
          new Change.Aim(
              ActivityState.DEAD, Duration.ZERO, 0, 0, DeadLetterReason.PERMANENT_FAILURE, receipt);
      case MANUAL_REVIEW, WAIT -> Change.Aim.of(ActivityState.MANUAL_REVIEW);
      case EXHAUSTED -> Change.Aim.dead(DeadLetterReason.RETRIES_EXHAUSTED);
      case RETRY_SAME_ACTIVITY -> Change.Aim.again(delay, 0, 0);
    };
  }

  private static AttemptOutcome outcome(RecoveryDecision decision) {
    return switch (decision) {
      case RECORD_COMPLETION, RECORD_FAILURE -> AttemptOutcome.SUPERSEDED;
      default -> AttemptOutcome.LEASE_LOST;
    };
  }

  private Future<Boolean> carryOut(Change.By by, Change change) {
    String statement = work.sql(SettleSql.CHANGE);
    return work.transaction(
            connection -> Change.carryOut(connection, statement, by, List.of(change)))
        .compose(
            changed -> {
              Change.Changed to = changed.get(0);
              KeyReleases.Keys ended = new KeyReleases.Keys();
              if (to != null
                  && (to.state() == ActivityState.COMPLETED || to.state() == ActivityState.DEAD)) {
                ended.ended(change.id(), to.key());
              }
              if (to != null && to.letter() != null) {
                letters.tell(List.of(to.letter()));
              }
              if (to != null && to.state() == ActivityState.RETRY_SCHEDULED) {
                pulse.scheduled(change.aim().delay());
              }
              return releases.after(to != null, ended);
            });
  }

  Future<@Nullable Hold> hold(String owner, Evidence evidence, Claim.Work of) {
    ActivityId id = evidence.id();
    Tuple values =
        Tuple.of(
            owner,
            id.consumer(),
            id.eventId(),
            evidence.holder().fence(),
            of.leaseTtl().toMillis());
    values.addValue(takeover(evidence, "probe")).addValue(batches.tag());
    return execute(RecoverySql.HOLD, values)
        .map(
            rows -> {
              for (Row row : rows) {
                Claim.Ticket ticket = ActivityRows.ticket(row, of);
                batches.started(id, ticket.fence(), row.getLong("batch"));
                return new Hold(ticket, row.getString("ordering_key"), StoredMessage.envelope(row));
              }
              return null;
            });
  }

  Future<Boolean> settleProbed(
      String owner, Claim.Ticket held, Probed probed, Delivery.@Nullable Envelope envelope) {
    if (probed.decision() == RecoveryDecision.WAIT) {
      return Future.succeededFuture(false);
    }
    Change change =
        new Change(
            ClaimGroups.storable(held.id()),
            held.fence(),
            aim(probed.decision(), probed.receipt(), probed.delay()),
            new Change.Ended(outcome(probed.decision()), null, false, true, false),
            new Change.Note("probe", "decision=" + probed.decision().wire(), probed.answer()),
            envelope);
    return carryOut(new Change.By(owner, false, owner), change)
        .compose(
            ours -> {
              if (ours) {
                batches.ended(held);
                return Future.succeededFuture(true);
              }
              batches.lost(held);
              return work.transaction(c -> lost(c, owner, held, probed)).map(false);
            });
  }

  private Future<?> lost(SqlConnection connection, String owner, Claim.Ticket held, Probed probed) {
    Tuple values =
        Tuple.of(owner, "lease_lost", held.id().consumer(), held.id().eventId())
            .addValue(held.generation())
            .addValue(held.fence())
            .addValue(probed.answer())
            .addValue("late probe decision=" + probed.decision().wire());
    return connection.preparedQuery(work.sql(UpkeepSql.AUDIT)).execute(values);
  }
}
