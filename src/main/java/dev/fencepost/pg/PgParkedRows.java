package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.model.StorableText;
import dev.fencepost.relay.OutboxStore;
import dev.fencepost.relay.ParkedRows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/** Parked rows in PostgreSQL, changed under the lane's lease. */
public final class PgParkedRows implements ParkedRows {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int DETAIL_BYTES = 2000;

  private final PgDatabase database;

  public PgParkedRows(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<List<Due>> due(int lane, OutboxStore.Limit limit) {
    Tuple arguments = Tuple.of((short) lane, limit.rows(), limit.bytes());
    return database
        .with(DEADLINE, c -> run(c, ParkedSql.DUE, arguments))
        .map(
            result -> {
              List<Due> due = new ArrayList<>(result.size());
              for (Row row : result) {
                due.add(
                    new Due(
                        OutboxRows.map(row, 0, lane),
                        ParkedReason.ofWire(row.getString(12)),
                        row.getInteger(13)));
              }
              return due;
            });
  }

  @Override
  public Future<State> settle(LaneOwner owner, List<Answer> answers) {
    short lane = (short) owner.lane();
    Long[] published =
        answers.stream()
            .filter(a -> a.refusal() == null)
            .map(a -> a.row().seq())
            .toArray(Long[]::new);
    Work work = new Work();
    answers.stream().map(a -> a.row().key()).filter(Objects::nonNull).forEach(work.keys::add);
    return guarded(
        owner,
        c -> {
          run(c, ParkedSql.PUBLISHED, LaneTuples.with(lane, published))
              .onSuccess(gone -> work.removed = gone.size()); // an operator may have been quicker
          run(c, ParkedSql.REFUSED, refused(lane, answers));
          return finish(c, lane, work);
        });
  }

  private static Tuple refused(short lane, List<Answer> answers) {
    List<Long> seqs = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    List<String> details = new ArrayList<>();
    List<Long> retryIn = new ArrayList<>();
    for (Answer answer : answers) {
      ParkedReason refusal = answer.refusal();
      if (refusal != null) {
        seqs.add(answer.row().seq());
        reasons.add(refusal.wire());
        details.add(StorableText.ofNullable(answer.detail(), DETAIL_BYTES));
        retryIn.add(answer.retryIn().toMillis());
      }
    }
    return Tuple.of(
        lane,
        seqs.toArray(Long[]::new),
        reasons.toArray(String[]::new),
        details.toArray(String[]::new),
        retryIn.toArray(Long[]::new));
  }

  @Override
  public Future<State> postpone(
      LaneOwner owner, Destination to, Duration by, List<OutboxRow> tried) {
    short lane = (short) owner.lane();
    String[] keys =
        tried.stream().map(row -> row.route().routingKey()).distinct().toArray(String[]::new);
    Long[] seqs = tried.stream().map(OutboxRow::seq).toArray(Long[]::new);
    Tuple where = Tuple.of(lane, to.exchange(), by.toMillis(), to.routingKey(), keys, seqs);
    return guarded(
        owner,
        c -> {
          run(c, ParkedSql.POSTPONE, where);
          return finish(c, lane, new Work());
        });
  }

  @Override
  public Future<State> carryOut(LaneOwner owner) {
    short lane = (short) owner.lane();
    return guarded(
        owner,
        c ->
            run(c, ParkedSql.REQUESTS, Tuple.of(lane))
                .compose(requests -> carryOut(c, lane, requests.iterator(), new Work())));
  }

  private static final class Work {
    private final Set<String> keys = new HashSet<>();
    private final List<Carried> carried = new ArrayList<>();
    private int removed;

    void add(Row request, Row row) {
      String action = request.getString(2);
      String key = row.getString(0);
      if (key != null) {
        keys.add(key);
      }
      removed += action.equals("skip") ? 1 : 0;
      String exchange = row.getString(2);
      OutboxRow.Route to =
          exchange == null ? null : new OutboxRow.Route(exchange, row.getString(3));
      long seq = request.getLong(1);
      carried.add(new Carried(action, seq, row.getString(1), key, to, request.getString(5)));
    }
  }

  private Future<State> carryOut(SqlConnection c, short lane, Iterator<Row> requests, Work work) {
    if (!requests.hasNext()) {
      return finish(c, lane, work);
    }
    Row request = requests.next();
    return act(c, lane, request)
        .compose(
            changed -> {
              changed.forEach(row -> work.add(request, row));
              String outcome = changed.size() > 0 ? "done" : "not first of its key, or not parked";
              return run(c, ParkedSql.DONE, Tuple.of(request.getLong(0), outcome));
            })
        .compose(done -> carryOut(c, lane, requests, work));
  }

  private Future<RowSet<Row>> act(SqlConnection c, short lane, Row request) {
    long seq = request.getLong(1);
    return switch (request.getString(2)) {
      case "retry" -> run(c, ParkedSql.RETRY, Tuple.of(lane, seq));
      case "skip" -> run(c, ParkedSql.SKIP, Tuple.of(lane, seq));
      default ->
          run(
              c,
              ParkedSql.REDIRECT,
              Tuple.of(lane, seq, request.getString(3), request.getString(4)));
    };
  }

  /** Makes the new first rows of these keys due and says how the lane stands. */
  private Future<State> finish(SqlConnection c, short lane, Work work) {
    Tuple arguments = LaneTuples.with(lane, work.keys.toArray(String[]::new));
    run(c, ParkedSql.PROMOTE, arguments);
    return run(c, ParkedSql.STATE, arguments)
        .map(
            result -> {
              Row row = result.iterator().next();
              Long next = row.getLong(1);
              return new State(
                  Set.of(row.getArrayOfStrings(0)),
                  work.removed,
                  work.carried,
                  next == null ? null : Duration.ofMillis(Math.max(0, next)));
            });
  }

  private Future<State> guarded(LaneOwner owner, Function<SqlConnection, Future<State>> work) {
    Tuple guard = Tuple.of((short) owner.lane(), owner.instance(), owner.fence());
    return database.inTransaction(
        DEADLINE,
        c ->
            run(c, ParkedSql.GUARD, guard)
                .compose(
                    found ->
                        found.size() == 1
                            ? work.apply(c)
                            : Future.failedFuture(
                                new FencepostException(
                                    FailureKind.LEASE_LOST,
                                    "lane " + owner.lane() + " has another owner"))));
  }

  private Future<RowSet<Row>> run(SqlConnection c, String sql, Tuple arguments) {
    return c.preparedQuery(database.sql(sql)).execute(arguments);
  }
}
