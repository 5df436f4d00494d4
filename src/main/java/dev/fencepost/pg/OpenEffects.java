package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.worker.ActivityStore.EffectGroup;
import dev.fencepost.worker.ActivityStore.FailedEffect;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Transaction;
import io.vertx.sqlclient.TransactionRollbackException;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of effects: open → committed, rolled back or abandoned; then its connection goes.
 */
final class OpenEffects implements EffectGroup {
  private static final int CANCELS = 20;
  private static final long CANCEL_MILLIS = 250;

  private final PgDatabase database;
  private final SqlConnection connection;
  private final Promise<Void> ended = Promise.promise();
  private final Future<Transaction> transaction;
  private final Future<?> settings;
  private @Nullable Future<?> ahead;
  private boolean healed;
  private List<Claim.Answer> answers = List.of();
  private List<Started> started = List.of();
  private Supplier<Future<Void>> afterCommit = Future::succeededFuture;

  private record Started(ActivityId id, Claim.@Nullable Request request, boolean hasMessage) {}

  private record Dead(Started start, @Nullable Receipt receipt, ErrorInfo error) {}

  /** Sends the begin and its settings; what follows is sent behind them without waiting. */
  OpenEffects(PgDatabase database, SqlConnection connection, Duration limit) {
    this.database = database;
    this.connection = connection;
    this.transaction = connection.begin();
    this.settings =
        connection
            .preparedQuery(EffectSql.SETTINGS)
            .execute(Tuple.of(Long.toString(limit.toMillis())));
  }

  /** Inserts all; fails where one is there. */
  Future<Void> insertNew(String statement, Tuple values) {
    return first(statement, values).mapEmpty();
  }

  /** The ids of the rows that were inserted. */
  Future<Set<ActivityId>> insert(String statement, Tuple values) {
    return first(statement, values)
        .map(
            rows -> {
              Set<ActivityId> ids = new HashSet<>();
              rows.forEach(row -> ids.add(ActivityRows.id(row)));
              return ids;
            });
  }

  /** The ordering key of the row that was completed; fails with LEASE_LOST when there is none. */
  Future<Optional<String>> complete(String statement, Tuple values) {
    return first(statement, values)
        .map(
            rows -> {
              for (Row row : rows) {
                return Optional.ofNullable(row.getString("ordering_key"));
              }
              throw new FencepostException(
                  FailureKind.LEASE_LOST, "another owner has taken over " + values.getString(2));
            });
  }

  private Future<RowSet<Row>> first(String statement, Tuple values) {
    Future<RowSet<Row>> rows = connection.preparedQuery(statement).execute(values);
    Future<?> handlers = connection.preparedQuery(EffectSql.HANDLERS).execute();
    return transaction
        .compose(begun -> settings)
        .compose(set -> rows)
        .compose(done -> handlers.map(done));
  }

  EffectGroup answered(List<Claim.Answer> all, List<Claim.Request> group) {
    answers = List.copyOf(all);
    List<Started> running = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      if (answers.get(i) instanceof Claim.Started s) {
        running.add(new Started(s.ticket().id(), group.get(i), false));
      }
    }
    started = running;
    return this;
  }

  EffectGroup claimed(
      Claim.Ticket ticket, Claim.@Nullable Request request, Supplier<Future<Void>> committed) {
    answers = List.of(new Claim.Started(ticket));
    started = List.of(new Started(ClaimGroups.storable(ticket.id()), request, true));
    afterCommit = committed;
    return this;
  }

  @Override
  public List<Claim.Answer> answers() {
    return answers;
  }

  @Override
  public SqlConnection connection() {
    return connection;
  }

  Future<Void> ended() {
    return ended.future();
  }

  @Override
  public Future<Void> commit(List<Receipt> receipts) {
    return receipts(receipts)
        .compose(stored -> committed())
        .recover(failure -> rolledBack().transform(v -> Future.failedFuture(failure)))
        .transform(
            done -> {
              ended.tryComplete();
              return done.succeeded()
                  ? afterCommit.get()
                  : Future.failedFuture(PgErrors.translate(done.cause()));
            });
  }

  /**
   * Where a savepoint has healed the transaction, by statements of our own: the client still takes
   * it for lost. The first tells an aborted one, whose COMMIT would be a ROLLBACK; the chained
   * empty transaction is the one that the client may roll back.
   */
  private Future<Void> committed() {
    if (!healed) {
      return transaction.compose(Transaction::commit);
    }
    Future<?> alive = connection.query("select 1").execute();
    Future<?> done = connection.query("commit and chain").execute();
    return transaction.compose(
        begun ->
            alive
                .recover(aborted -> Future.failedFuture(TransactionRollbackException.INSTANCE))
                .compose(yes -> done)
                .compose(committed -> begun.rollback().otherwiseEmpty()));
  }

  private Future<Void> receipts(List<Receipt> receipts) {
    List<Integer> bodies = new ArrayList<>();
    List<Integer> failed = new ArrayList<>();
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < started.size(); i++) {
      Receipt receipt = receipts.get(i);
      if (receipt.outcome() == ReceiptOutcome.FAILED_PERMANENT) {
        failed.add(i);
      } else if (receipt.body() != null) {
        bodies.add(i);
      }
      if (started.get(i).hasMessage()) {
        kept.add(i);
      }
    }
    if (bodies.isEmpty() && failed.isEmpty() && kept.isEmpty()) {
      return Future.succeededFuture();
    }
    return outcomesAhead()
        .compose(set -> bodies.isEmpty() ? nothing() : store(bodies, receipts))
        .compose(done -> failed.isEmpty() ? nothing() : fail(failed, receipts))
        .compose(done -> kept.isEmpty() ? nothing() : forget(kept))
        .mapEmpty();
  }

  private static Future<RowSet<Row>> nothing() {
    return Future.succeededFuture();
  }

  private Future<RowSet<Row>> store(List<Integer> indexes, List<Receipt> receipts) {
    Columns<Integer> columns =
        new Columns<>(indexes)
            .names(i -> started.get(i).id().consumer())
            .names(i -> started.get(i).id().eventId())
            .receipts(i -> receipts.get(i).body());
    return connection.preparedQuery(database.sql(EffectSql.BODIES)).execute(columns.tuple());
  }

  private Future<RowSet<Row>> fail(List<Integer> indexes, List<Receipt> receipts) {
    List<Dead> dead = new ArrayList<>(indexes.size());
    for (int i : indexes) {
      String body = receipts.get(i).body();
      dead.add(
          new Dead(started.get(i), receipts.get(i), new ErrorInfo("failed_permanent", body, null)));
    }
    return die(dead);
  }

  private Future<RowSet<Row>> die(List<Dead> dead) {
    Columns<Dead> columns =
        new Columns<>(dead)
            .names(d -> d.start.id().consumer())
            .names(d -> d.start.id().eventId())
            .names(d -> d.receipt == null ? null : d.receipt.outcome().wire())
            .receipts(d -> d.receipt == null ? null : d.receipt.body())
            .texts(d -> d.error.errorClass())
            .texts(d -> d.error.message())
            .texts(d -> d.error.cause());
    StoredMessage.columns(
        columns.tuple(),
        dead,
        d -> d.start.request() == null ? null : d.start.request().envelope());
    return connection.preparedQuery(database.sql(EffectSql.FAILED)).execute(columns.tuple());
  }

  private Future<RowSet<Row>> forget(List<Integer> indexes) {
    ActivityId id = started.get(indexes.get(0)).id();
    return connection
        .preparedQuery(database.sql(EffectSql.FORGET))
        .execute(Tuple.of(id.consumer(), id.eventId()));
  }

  @Override
  public Future<Void> rollback() {
    return rolledBack()
        .transform(
            done -> {
              ended.tryComplete();
              return Future.succeededFuture();
            });
  }

  @Override
  public Future<Void> savepoint() {
    return connection.query("savepoint part").execute().mapEmpty();
  }

  @Override
  public Future<Void> rollbackToSavepoint() {
    healed = true;
    return translated(connection.query("rollback to savepoint part").execute());
  }

  /** Their rows were inserted by this transaction: nobody else has seen them. */
  @Override
  public Future<Void> withdraw(List<ActivityId> ids) {
    Set<ActivityId> gone = new HashSet<>();
    ids.forEach(id -> gone.add(ClaimGroups.storable(id)));
    started = started.stream().filter(one -> !gone.contains(one.id())).toList();
    Tuple values =
        new Columns<>(List.copyOf(gone))
            .names(ActivityId::consumer)
            .names(ActivityId::eventId)
            .tuple();
    Future<?> ahead = outcomesAhead();
    Future<?> deleted = connection.preparedQuery(database.sql(EffectSql.WITHDRAW)).execute(values);
    return translated(ahead.compose(set -> deleted));
  }

  /** Once: no handler runs any more. */
  private Future<?> outcomesAhead() {
    if (ahead == null) {
      ahead = connection.preparedQuery(EffectSql.OUTCOMES_AHEAD).execute();
    }
    return ahead;
  }

  @Override
  public Future<Void> fail(List<FailedEffect> failed) {
    Map<ActivityId, ErrorInfo> errors = new HashMap<>();
    failed.forEach(one -> errors.put(ClaimGroups.storable(one.id()), one.error()));
    List<Dead> dead = new ArrayList<>(failed.size());
    List<Started> others = new ArrayList<>(started.size());
    for (Started one : started) {
      ErrorInfo error = errors.get(one.id());
      if (error == null) {
        others.add(one);
      } else {
        dead.add(new Dead(one, null, error));
      }
    }
    started = others;
    Future<?> ahead = outcomesAhead();
    Future<?> died = die(dead);
    return translated(ahead.compose(set -> died));
  }

  private static Future<Void> translated(Future<?> statement) {
    return statement.transform(
        done ->
            done.succeeded()
                ? Future.succeededFuture()
                : Future.failedFuture(PgErrors.translate(done.cause())));
  }

  private Future<Void> rolledBack() {
    return transaction.compose(Transaction::rollback);
  }

  /** Ends with a timeout, after which the connection is closed and not given back. */
  @Override
  public Future<Void> abandon() {
    return cancelled(rolledBack(), CANCELS)
        .transform(
            done -> {
              ended.tryFail(new TimeoutException("an effect did not come back"));
              return Future.succeededFuture();
            });
  }

  /**
   * A request to cancel that overtakes its statement does nothing: asks until it is rolled back.
   */
  private Future<Void> cancelled(Future<Void> rolledBack, int tries) {
    return PgConnection.cast(connection)
        .cancelRequest()
        .transform(asked -> rolledBack.timeout(CANCEL_MILLIS, TimeUnit.MILLISECONDS))
        .recover(
            failure ->
                tries == 1 || rolledBack.isComplete()
                    ? Future.failedFuture(failure)
                    : cancelled(rolledBack, tries - 1));
  }
}
