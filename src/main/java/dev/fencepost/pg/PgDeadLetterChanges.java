package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.StorableText;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.DeadLetterChanges;
import dev.fencepost.operations.Who;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Redrives and discards dead letters; a group that conflicts is gone through one by one. */
public final class PgDeadLetterChanges implements DeadLetterChanges {
  private static final int TEXT_BYTES = 64 * 1024;

  private final DurableWork work;
  private final Verb redrive;
  private final Verb discard;

  /** A statement and what it makes of an open dead letter. */
  private record Verb(String statement, Outcome outcome) {}

  public PgDeadLetterChanges(PgDatabase database) {
    work = new DurableWork(database);
    redrive = new Verb(work.sql(OperatorSql.REDRIVE), Outcome.REDRIVEN);
    discard = new Verb(work.sql(OperatorSql.DISCARD), Outcome.DISCARDED);
  }

  @Override
  public Future<List<Change>> redrive(List<Long> ids, Who who) {
    return all(redrive, ids, who);
  }

  @Override
  public Future<List<Change>> discard(List<Long> ids, Who who) {
    return all(discard, ids, who);
  }

  private Future<List<Change>> all(Verb verb, List<Long> ids, Who who) {
    return group(verb, ids, who)
        .recover(
            failure ->
                ids.size() > 1 && onlyThese(failure)
                    ? singly(verb, ids, who)
                    : failed(ids, failure));
  }

  private static boolean onlyThese(Throwable failure) {
    return FencepostException.is(failure, FailureKind.DATABASE_CONFLICT)
        || FencepostException.is(failure, FailureKind.DATABASE_REFUSED);
  }

  private Future<List<Change>> singly(Verb verb, List<Long> ids, Who who) {
    Future<List<Change>> changes = Future.succeededFuture(new ArrayList<>());
    for (Long id : ids) {
      changes =
          changes.compose(
              made ->
                  all(verb, List.of(id), who)
                      .map(
                          more -> {
                            made.addAll(more);
                            return made;
                          }));
    }
    return changes;
  }

  private static Future<List<Change>> failed(List<Long> ids, Throwable failure) {
    return ids.size() == 1 && onlyThese(failure)
        ? Future.succeededFuture(
            List.of(new Change(ids.get(0), Outcome.FAILED, failure.getMessage())))
        : Future.failedFuture(failure);
  }

  private Future<List<Change>> group(Verb verb, List<Long> ids, Who who) {
    Tuple values =
        Tuple.of(ids.toArray(Long[]::new))
            .addValue(StorableText.of(who.operator(), TEXT_BYTES))
            .addValue(StorableText.ofNullable(who.note(), TEXT_BYTES));
    return work.execute(verb.statement, values)
        .map(
            rows -> {
              Map<Long, Change> made = new HashMap<>();
              rows.forEach(row -> made.put(row.getLong("id"), change(verb, row)));
              return ids.stream()
                  .map(id -> made.getOrDefault(id, new Change(id, Outcome.NOT_FOUND, null)))
                  .toList();
            });
  }

  private static Change change(Verb verb, Row row) {
    long id = row.getLong("id");
    if (row.getBoolean("changed")) {
      return new Change(id, verb.outcome, null);
    }
    String state = row.getString("state");
    if (!state.equals("open")) {
      return new Change(id, Outcome.UNCHANGED, "is " + state);
    }
    if (row.getBoolean("bodiless")) {
      return new Change(id, Outcome.FAILED, "its message has not come: there is no body to run");
    }
    return new Change(
        id,
        Outcome.FAILED,
        row.getBoolean("untyped")
            ? "it has no type: no handler can be found for it"
            : "its activity has gone on since");
  }
}
