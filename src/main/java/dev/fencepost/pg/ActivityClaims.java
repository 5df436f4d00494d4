package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.pg.ClaimStatements.Again;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Claims of deliveries: first starts in one statement, everything that exists in another. */
final class ActivityClaims {
  private static final int TRIES = 3;

  private final DurableWork work;
  private final ClaimStatements statements;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final WrittenLetters letters;
  private final Pulse pulse;
  private final Newness newness = new Newness();

  ActivityClaims(
      DurableWork work,
      BatchLedger batches,
      KeyReleases releases,
      WrittenLetters letters,
      Pulse pulse) {
    this.work = work;
    this.pulse = pulse;
    this.letters = letters;
    this.statements = new ClaimStatements(work.database());
    this.batches = batches;
    this.releases = releases;
  }

  Future<List<Claim.Answer>> claim(String owner, List<Claim.Request> group) {
    return waves(
            group,
            wave ->
                newness.assume(
                    wave,
                    allNew ->
                        round(allNew, (round, connection) -> round.claim(connection, owner, wave))))
        .map(known -> ClaimGroups.inOrder(owner, group, known));
  }

  /** The same for what is not to start yet: stored, due now. */
  Future<List<Claim.Answer>> defer(List<Claim.Request> group) {
    return waves(group, wave -> round((round, connection) -> round.defer(connection, wave)))
        .map(known -> ClaimGroups.inOrder("", group, known));
  }

  /** What is done with a wave, in one transaction. */
  private interface Step
      extends Function<List<Claim.Request>, Future<Map<ActivityId, Claim.Answer>>> {}

  private static Future<Map<ActivityId, Claim.Answer>> waves(List<Claim.Request> group, Step step) {
    Future<Map<ActivityId, Claim.Answer>> answers = Future.succeededFuture(new HashMap<>());
    for (List<Claim.Request> wave : ClaimGroups.waves(group)) {
      answers = answers.compose(known -> wave(step, wave, TRIES).map(more -> both(known, more)));
    }
    return answers;
  }

  private static Map<ActivityId, Claim.Answer> both(
      Map<ActivityId, Claim.Answer> known, Map<ActivityId, Claim.Answer> more) {
    known.putAll(more);
    return known;
  }

  private static Future<Map<ActivityId, Claim.Answer>> wave(
      Step step, List<Claim.Request> wave, int tries) {
    if (tries == 0) {
      return Future.failedFuture(
          new FencepostException(
              FailureKind.DATABASE_CONFLICT, "rows of a claim came and went: " + wave.get(0).id()));
    }
    return step.apply(wave)
        .compose(
            answers -> {
              List<Claim.Request> left = ClaimGroups.unanswered(wave, answers);
              return left.isEmpty()
                  ? Future.succeededFuture(answers)
                  : wave(step, left, tries - 1).map(more -> both(answers, more));
            });
  }

  private Future<Map<ActivityId, Claim.Answer>> round(
      BiFunction<ClaimRound, SqlConnection, Future<Void>> part) {
    return round(false, part);
  }

  private Future<Map<ActivityId, Claim.Answer>> round(
      boolean allNew, BiFunction<ClaimRound, SqlConnection, Future<Void>> part) {
    ClaimRound round = new ClaimRound(statements, batches.tag(), allNew);
    return work.transaction(connection -> part.apply(round, connection))
        .compose(v -> round.committed(batches, releases, letters, pulse));
  }

  /** Those that stand behind another event of their key, by their index. */
  Future<Set<Integer>> behind(List<Claim.Request> requests) {
    return ClaimStatements.unordered(requests)
        ? Future.succeededFuture(Set.of())
        : work.transaction(connection -> statements.behind(connection, requests));
  }

  /** Requests that may not start now: stored as blocked, or answered by what is there. */
  Future<Map<ActivityId, Claim.Answer>> waiting(List<Claim.Request> requests) {
    return requests.isEmpty()
        ? Future.succeededFuture(new LinkedHashMap<>())
        : round((round, connection) -> round.store(connection, ActivityState.BLOCKED, requests));
  }

  /** Answers to deliveries of rows that exist. */
  Future<Map<ActivityId, Claim.Answer>> existing(List<Claim.Request> requests) {
    return requests.isEmpty()
        ? Future.succeededFuture(new LinkedHashMap<>())
        : round((round, connection) -> round.again(connection, requests, Again.CLAIM));
  }

  /** Whether the row is still there. */
  Future<Boolean> keepBody(Claim.Request request) {
    return round((round, connection) -> round.again(connection, List.of(request), Again.KEEP))
        .map(answers -> !answers.isEmpty());
  }

  /** Stores an event that nobody here can run. */
  Future<Void> unresolved(Claim.Request request) {
    return round(
            (round, connection) ->
                round.store(connection, ActivityState.UNRESOLVED, List.of(request)))
        .mapEmpty();
  }
}
