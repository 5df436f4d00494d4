package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.pg.ClaimStatements.Again;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.DeadLettered;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Deliveries of one transaction and their answers, which count once it has committed. */
final class ClaimRound {
  private final ClaimStatements statements;
  private final long tag;
  private final boolean allNew;
  private final Map<ActivityId, Claim.Answer> answers = new LinkedHashMap<>();
  private final Map<ActivityId, BatchLedger.Batch> started = new HashMap<>();
  private final KeyReleases.Keys ended = new KeyReleases.Keys();
  private final List<DeadLettered> dead = new ArrayList<>(0);
  private boolean alike;
  private boolean due;

  /**
   * @param tag of the batch that its starts become
   * @param allNew no event is known here; where one is, the transaction fails
   */
  ClaimRound(ClaimStatements statements, long tag, boolean allNew) {
    this.statements = statements;
    this.tag = tag;
    this.allNew = allNew;
  }

  /** Starts what may start, stores what stands behind another event of its key. */
  Future<Void> claim(SqlConnection connection, String owner, List<Claim.Request> wave) {
    if (ClaimStatements.unordered(wave)) {
      return start(connection, owner, wave);
    }
    return statements
        .behind(connection, wave)
        .compose(
            behind ->
                start(connection, owner, ClaimGroups.pick(wave, behind, false))
                    .compose(
                        v ->
                            store(
                                connection,
                                ActivityState.BLOCKED,
                                ClaimGroups.pick(wave, behind, true))));
  }

  /** Stores all of them: due now, or behind another event of their key. */
  Future<Void> defer(SqlConnection connection, List<Claim.Request> wave) {
    Future<Set<Integer>> found =
        ClaimStatements.unordered(wave)
            ? Future.succeededFuture(Set.of())
            : statements.behind(connection, wave);
    return found.compose(
        behind ->
            store(connection, ActivityState.RETRY_SCHEDULED, ClaimGroups.pick(wave, behind, false))
                .compose(
                    v ->
                        store(
                            connection,
                            ActivityState.BLOCKED,
                            ClaimGroups.pick(wave, behind, true))));
  }

  private Future<Void> start(SqlConnection connection, String owner, List<Claim.Request> requests) {
    if (requests.isEmpty()) {
      return Future.succeededFuture();
    }
    if (allNew) {
      return statements
          .startNew(connection, owner, tag, requests)
          .map(
              batch -> {
                started(requests, request -> batch);
                alike = requests.stream().allMatch(WholeBatches::mayBe);
                return null;
              });
    }
    return statements
        .start(connection, owner, tag, requests)
        .compose(
            rows -> {
              Map<ActivityId, Long> batches = new HashMap<>();
              rows.forEach(row -> batches.put(ActivityRows.id(row), row.getLong("batch")));
              started(requests, request -> batches.get(request.id()));
              return again(connection, ClaimGroups.unanswered(requests, answers), Again.CLAIM);
            });
  }

  /** Neighbours mostly share their batch: it is made once for them. */
  private void started(
      List<Claim.Request> requests, Function<Claim.Request, @Nullable Long> batchOf) {
    BatchLedger.Batch last = null;
    for (Claim.Request request : requests) {
      Long number = batchOf.apply(request);
      if (number == null) {
        continue;
      }
      String consumer = request.id().consumer();
      if (last == null || last.number() != number || !last.consumer().equals(consumer)) {
        last = new BatchLedger.Batch(consumer, number);
      }
      started.put(request.id(), last);
      answers.put(request.id(), new Claim.Started(ClaimGroups.first(request)));
    }
  }

  /** Blocked or unresolved rows, and those that are due at once. */
  Future<Void> store(SqlConnection connection, ActivityState state, List<Claim.Request> requests) {
    if (requests.isEmpty()) {
      return Future.succeededFuture();
    }
    due |= state == ActivityState.RETRY_SCHEDULED;
    Again meant = state == ActivityState.UNRESOLVED ? Again.STORE : Again.CLAIM;
    return statements
        .store(connection, state, requests)
        .compose(
            rows -> {
              rows.forEach(row -> answers.put(ActivityRows.id(row), new Claim.Waiting(state)));
              return again(connection, ClaimGroups.unanswered(requests, answers), meant);
            });
  }

  /** Rows that exist. */
  Future<Void> again(SqlConnection connection, List<Claim.Request> requests, Again meant) {
    if (requests.isEmpty()) {
      return Future.succeededFuture();
    }
    return statements
        .again(connection, requests, meant)
        .map(
            rows -> {
              rows.forEach(this::found);
              return null;
            });
  }

  private void found(Row row) {
    ActivityId id = ActivityRows.id(row);
    ActivityState state = ActivityState.ofWire(row.getString("next_state"));
    answers.put(id, answer(row, state));
    due |= state == ActivityState.RETRY_SCHEDULED;
    if (state == ActivityState.DEAD && row.getBoolean("moved")) {
      ended.ended(id, row.getString("ordering_key"));
    }
    WrittenLetters.collect(row, dead);
  }

  private static Claim.Answer answer(Row row, ActivityState state) {
    return switch (state) {
      case COMPLETED, DEAD -> new Claim.Duplicate(state, row.getInteger("retries"));
      case RETRY_SCHEDULED, BLOCKED, MANUAL_REVIEW, UNRESOLVED ->
          new Claim.Waiting(state, row.getInteger("retries"));
      case RUNNING -> {
        long left = row.getLong("lease_left");
        yield left > 0
            ? new Claim.Held(Duration.ofNanos(left * 1000), ActivityRows.evidence(row))
            : new Claim.Expired(ActivityRows.evidence(row));
      }
    };
  }

  /** After the commit. */
  Future<Map<ActivityId, Claim.Answer>> committed(
      BatchLedger batches, KeyReleases releases, WrittenLetters letters, Pulse pulse) {
    letters.tell(dead);
    if (due) {
      pulse.scheduled(Duration.ZERO);
    }
    batches.started(started, alike);
    return releases.after(answers, ended);
  }
}
