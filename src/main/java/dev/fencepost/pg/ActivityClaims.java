package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Claims of deliveries: first starts in one statement, everything that exists in another. */
final class ActivityClaims {
  private static final int TRIES = 3;

  private final DurableWork work;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final String behind;
  private final String start;
  private final String store;
  private final String deliverAgain;

  ActivityClaims(DurableWork work, BatchLedger batches, KeyReleases releases) {
    this.work = work;
    this.batches = batches;
    this.releases = releases;
    this.behind = work.sql(ClaimSql.BEHIND);
    this.start = work.sql(ClaimSql.START);
    this.store = work.sql(ClaimSql.STORE);
    this.deliverAgain = work.sql(ClaimSql.DELIVER_AGAIN);
  }

  Future<List<Claim.Answer>> claim(String owner, List<Claim.Request> group) {
    Future<Map<ActivityId, Claim.Answer>> answers = Future.succeededFuture(new HashMap<>());
    for (List<Claim.Request> wave : ClaimGroups.waves(group)) {
      answers =
          answers.compose(
              known ->
                  wave(owner, wave, TRIES)
                      .map(
                          more -> {
                            known.putAll(more);
                            return known;
                          }));
    }
    return answers.map(known -> ClaimGroups.inOrder(owner, group, known));
  }

  private Future<Map<ActivityId, Claim.Answer>> wave(
      String owner, List<Claim.Request> wave, int tries) {
    if (tries == 0) {
      return Future.failedFuture(
          new FencepostException(
              FailureKind.DATABASE_CONFLICT, "rows of a claim came and went: " + wave.get(0).id()));
    }
    Round round = new Round(owner);
    return work.transaction(connection -> round.run(connection, wave))
        .compose(v -> round.settled())
        .compose(
            answers -> {
              List<Claim.Request> left = ClaimGroups.unanswered(wave, answers);
              return left.isEmpty()
                  ? Future.succeededFuture(answers)
                  : wave(owner, left, tries - 1)
                      .map(
                          more -> {
                            answers.putAll(more);
                            return answers;
                          });
            });
  }

  /** Those that stand behind another event of their key, by their index. */
  Future<Set<Integer>> behind(SqlConnection connection, List<Claim.Request> requests) {
    if (requests.stream().allMatch(r -> r.key() == null)) {
      return Future.succeededFuture(Set.of());
    }
    Columns<Claim.Request> columns =
        new Columns<>(requests)
            .names(r -> r.id().consumer())
            .names(r -> r.id().eventId())
            .names(Claim.Request::key);
    return connection
        .preparedQuery(behind)
        .execute(columns.tuple())
        .map(
            rows -> {
              Set<Integer> found = new HashSet<>();
              rows.forEach(row -> found.add(row.getLong("ord").intValue() - 1));
              return found;
            });
  }

  /** Requests that may not start now: stored as blocked, or answered by what is there. */
  Future<Map<ActivityId, Claim.Answer>> waiting(String owner, List<Claim.Request> requests) {
    Round round = new Round(owner);
    return work.transaction(connection -> round.store(connection, requests))
        .compose(v -> round.settled());
  }

  /** Answers to deliveries of rows that exist. */
  Future<Map<ActivityId, Claim.Answer>> existing(String owner, List<Claim.Request> requests) {
    if (requests.isEmpty()) {
      return Future.succeededFuture(new LinkedHashMap<>());
    }
    Round round = new Round(owner);
    return work.transaction(connection -> round.again(connection, requests, false))
        .compose(v -> round.settled());
  }

  /** Whether the row is still there. */
  Future<Boolean> keepBody(Claim.Request request) {
    Round round = new Round(null);
    return work.transaction(connection -> round.again(connection, List.of(request), true))
        .compose(v -> round.settled())
        .map(answers -> !answers.isEmpty());
  }

  /** Stores an event that nobody here can run. */
  Future<Void> unresolved(Claim.Request request) {
    Round round = new Round(null);
    return work.transaction(
            connection ->
                round
                    .insert(connection, List.of(request), ActivityState.UNRESOLVED)
                    .compose(left -> round.again(connection, left, false)))
        .compose(v -> round.settled())
        .mapEmpty();
  }

  /** One transaction's work; its answers count once it has committed. */
  private final class Round {
    private final @Nullable String owner;
    private final Map<ActivityId, Claim.Answer> answers = new LinkedHashMap<>();
    private final Map<ActivityId, Long> started = new HashMap<>();
    private final KeyReleases.Keys ended = new KeyReleases.Keys();

    /**
     * @param owner null where nothing may start and types are not known
     */
    Round(@Nullable String owner) {
      this.owner = owner;
    }

    Future<Void> run(SqlConnection connection, List<Claim.Request> wave) {
      if (wave.stream().allMatch(r -> r.key() == null)) {
        return start(connection, wave).compose(left -> again(connection, left, false));
      }
      return behind(connection, wave)
          .compose(
              behind -> {
                List<Claim.Request> first = ClaimGroups.pick(wave, behind, false);
                List<Claim.Request> later = ClaimGroups.pick(wave, behind, true);
                return start(connection, first)
                    .compose(left -> again(connection, left, false))
                    .compose(v -> store(connection, later));
              });
    }

    private Future<List<Claim.Request>> start(
        SqlConnection connection, List<Claim.Request> requests) {
      if (requests.isEmpty()) {
        return Future.succeededFuture(requests);
      }
      Columns<Claim.Request> columns =
          new Columns<>(requests)
              .value(owner)
              .names(r -> r.id().consumer())
              .names(r -> r.id().eventId())
              .names(r -> r.work().type())
              .names(r -> r.work().kind().wire())
              .names(Claim.Request::key)
              .longs(r -> r.work().maxRetries())
              .longs(r -> r.work().maxAttempts())
              .longs(r -> r.work().leaseTtl().toMillis())
              .booleans(Claim.Request::redelivered);
      return connection
          .preparedQuery(start)
          .execute(columns.tuple())
          .map(
              rows -> {
                rows.forEach(row -> started.put(ActivityRows.id(row), row.getLong("batch")));
                for (Claim.Request request : requests) {
                  if (started.containsKey(request.id())) {
                    answers.put(request.id(), new Claim.Started(ClaimGroups.first(request)));
                  }
                }
                return ClaimGroups.unanswered(requests, answers);
              });
    }

    Future<Void> store(SqlConnection connection, List<Claim.Request> requests) {
      return insert(connection, requests, ActivityState.BLOCKED)
          .compose(left -> again(connection, left, false));
    }

    Future<List<Claim.Request>> insert(
        SqlConnection connection, List<Claim.Request> requests, ActivityState state) {
      if (requests.isEmpty()) {
        return Future.succeededFuture(requests);
      }
      boolean known = state != ActivityState.UNRESOLVED;
      Columns<Claim.Request> columns =
          new Columns<>(requests)
              .value(state.wire())
              .names(r -> r.id().consumer())
              .names(r -> r.id().eventId())
              .names(r -> r.work().type())
              .names(r -> known ? r.work().kind().wire() : null)
              .names(Claim.Request::key)
              .nullableLongs(r -> known ? (long) r.work().maxRetries() : null)
              .nullableLongs(r -> known ? (long) r.work().maxAttempts() : null)
              .booleans(Claim.Request::redelivered);
      StoredMessage.columns(columns.tuple(), requests, Claim.Request::envelope);
      return connection
          .preparedQuery(store)
          .execute(columns.tuple())
          .map(
              rows -> {
                rows.forEach(row -> answers.put(ActivityRows.id(row), new Claim.Waiting(state)));
                return ClaimGroups.unanswered(requests, answers);
              });
    }

    /** Rows that exist. */
    Future<Void> again(
        SqlConnection connection, List<Claim.Request> requests, boolean keepsWhileRunning) {
      if (requests.isEmpty()) {
        return Future.succeededFuture();
      }
      Columns<Claim.Request> columns =
          new Columns<>(requests)
              .value(keepsWhileRunning)
              .names(r -> r.id().consumer())
              .names(r -> r.id().eventId())
              .names(r -> r.work().type())
              .names(r -> owner == null ? null : r.work().kind().wire())
              .booleans(r -> r.redelivered() && !keepsWhileRunning);
      StoredMessage.columns(columns.tuple(), requests, Claim.Request::envelope);
      return connection
          .preparedQuery(deliverAgain)
          .execute(columns.tuple())
          .map(
              (RowSet<Row> rows) -> {
                rows.forEach(this::found);
                return null;
              });
    }

    private void found(Row row) {
      ActivityId id = ActivityRows.id(row);
      ActivityState state = ActivityState.ofWire(row.getString("next_state"));
      answers.put(id, answer(row, state));
      if (state == ActivityState.DEAD && row.getBoolean("moved")) {
        ended.ended(id, row.getString("ordering_key"));
      }
    }

    private Claim.Answer answer(Row row, ActivityState state) {
      return switch (state) {
        case COMPLETED, DEAD -> new Claim.Duplicate(state);
        case RETRY_SCHEDULED, BLOCKED, MANUAL_REVIEW, UNRESOLVED -> new Claim.Waiting(state);
        case RUNNING -> {
          long left = row.getLong("lease_left");
          yield left > 0
              ? new Claim.Held(Duration.ofNanos(left * 1000), ActivityRows.evidence(row))
              : new Claim.Expired(ActivityRows.evidence(row));
        }
      };
    }

    Future<Map<ActivityId, Claim.Answer>> settled() {
      started.forEach((id, batch) -> batches.started(id, 1, batch));
      return releases.after(answers, ended);
    }
  }
}
