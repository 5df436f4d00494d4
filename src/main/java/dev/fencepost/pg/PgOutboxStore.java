package dev.fencepost.pg;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.OutboxRow;
import dev.fencepost.relay.Checkpoint;
import dev.fencepost.relay.OutboxStore;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the outbox in PostgreSQL. Confined to the context of the relay that uses it. */
public final class PgOutboxStore implements OutboxStore {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /** A long transaction's rows are looked for in all that is retained. */
  private static final Duration LATE_DEADLINE = Duration.ofMinutes(2);

  private final PgDatabase database;

  /** Pages are read by the index of lane and seq. */
  private final PgDatabase pages;

  private final String poll;
  private final String beginLife;
  private final String mark;
  private final String markAlone;
  private final String open;
  private final String page;
  private final String late;
  private final LateRows lateRows = new LateRows(this::lookForLate);

  public PgOutboxStore(PgDatabase database) {
    this.database = database;
    this.pages = database.byIndex();
    this.poll = database.sql(OutboxSql.POLL);
    this.beginLife = database.sql(OutboxSql.BEGIN_LIFE);
    this.mark = database.sql(OutboxSql.MARK);
    this.markAlone = database.sql(OutboxSql.MARK_ALONE);
    this.open = database.sql(OutboxSql.OPEN);
    this.page = database.sql(OutboxSql.PAGE);
    this.late = database.sql(OutboxSql.LATE);
  }

  @Override
  public Future<Poll> poll() {
    return run(poll, Tuple.tuple())
        .compose(
            result -> {
              Row row = result.iterator().next();
              if (row.getString(0) == null) {
                return run(beginLife, Tuple.tuple()).compose(v -> poll());
              }
              return Future.succeededFuture(
                  new Poll(
                      row.getString(0),
                      row.getLong(1),
                      Snapshot.parse(row.getString(2)),
                      row.getBoolean(3)));
            });
  }

  @Override
  public Future<Marked> mark(String owner, String life, List<Checkpoint> checkpoints) {
    return database.with(DEADLINE, c -> mark(c, owner, life, checkpoints));
  }

  private Future<Marked> mark(
      SqlConnection connection, String owner, String life, List<Checkpoint> checkpoints) {
    return (checkpoints.isEmpty()
            ? connection.preparedQuery(markAlone).execute()
            : connection.preparedQuery(mark).execute(CheckpointTuple.of(owner, life, checkpoints)))
        .map(PgOutboxStore::marked);
  }

  private static Marked marked(RowSet<Row> result) {
    Row row = result.iterator().next();
    String now = row.getString("life");
    return new Marked(
        now == null ? "" : now,
        row.getLong(1),
        row.getBoolean(2),
        lanes(row.getArrayOfShorts("appended")));
  }

  static Set<Integer> lanes(Short[] lanes) {
    Set<Integer> set = new java.util.HashSet<>();
    for (Short lane : lanes) {
      set.add((int) lane);
    }
    return set;
  }

  /**
   * The snapshot is taken after the mark's commit. One connection answers in the order of asking;
   * behind a pooler each use of {@link #pages} is one transaction, and the mark needs its own.
   */
  @Override
  public Turn open(
      String owner, String life, List<Checkpoint> checkpoints, List<Opening> openings) {
    if (pages.pooled()) {
      Future<Marked> marked = mark(owner, life, checkpoints);
      return new Turn(
          marked, marked.compose(v -> read(open, openings(openings))).map(PgOutboxStore::opened));
    }
    return pipelined(owner, life, checkpoints, openings(openings));
  }

  private Turn pipelined(String owner, String life, List<Checkpoint> checkpoints, Tuple openings) {
    Promise<Marked> marked = Promise.promise();
    Future<Opened> opened =
        pages.with(
            DEADLINE,
            c -> {
              Future<Marked> first = mark(c, owner, life, checkpoints);
              Future<RowSet<Row>> second = c.preparedQuery(open).execute(openings);
              return first
                  .onSuccess(marked::tryComplete)
                  .compose(v -> second.map(PgOutboxStore::opened));
            });
    opened.onFailure(marked::tryFail);
    return new Turn(marked.future(), opened);
  }

  private static Tuple openings(List<Opening> openings) {
    int n = openings.size();
    Short[] lanes = new Short[n];
    Long[] above = new Long[n];
    Long[] xmax = new Long[n];
    String[] xip = new String[n];
    Integer[] limits = new Integer[n];
    Long[] budgets = new Long[n];
    for (int i = 0; i < n; i++) {
      Opening opening = openings.get(i);
      lanes[i] = (short) opening.lane();
      above[i] = opening.above();
      xmax[i] = opening.last().xmax();
      xip[i] = CheckpointTuple.array(opening.last().xip());
      limits[i] = opening.limit().rows();
      budgets[i] = opening.limit().bytes();
    }
    return Tuple.of(lanes, above, xmax, xip, limits, budgets);
  }

  private static Opened opened(RowSet<Row> result) {
    Map<Integer, List<OutboxRow>> pages = new HashMap<>();
    String life = "";
    String cur = "";
    for (Row row : result) {
      if (cur.isEmpty()) {
        life = String.valueOf(row.getString(0));
        cur = row.getString(1);
      }
      if (row.getLong(3) != null) {
        int lane = row.getShort(2);
        pages.computeIfAbsent(lane, l -> new ArrayList<>()).add(OutboxRows.map(row, 3, lane));
      }
    }
    return new Opened(life, Snapshot.parse(cur), pages);
  }

  @Override
  public Future<List<OutboxRow>> page(PageRequest request) {
    Opening from = request.from();
    Tuple arguments =
        Tuple.tuple()
            .addShort((short) from.lane())
            .addLong(from.above())
            .addLong(from.last().xmax())
            .addArrayOfLong(boxed(from.last().xip()))
            .addLong(request.cur().xmax())
            .addArrayOfLong(boxed(request.cur().xip()))
            .addInteger(from.limit().rows())
            .addLong(from.limit().bytes())
            .addString(request.life())
            .addLong(request.upTo());
    return read(page, arguments).map(result -> OutboxRows.list(result, from.lane()));
  }

  @Override
  public Future<List<Span>> late(LateRequest request) {
    return lateRows.of(request);
  }

  private Future<LateRows.Found> lookForLate(String life, long[] txs) {
    return database
        .inTransaction(
            LATE_DEADLINE,
            c -> {
              Future<RowSet<Row>> guarded = c.preparedQuery(OutboxSql.BY_TX).execute();
              Future<RowSet<Row>> found = c.preparedQuery(late).execute(Tuple.of(boxed(txs)));
              return Future.all(guarded, found).map(v -> found.result());
            })
        .compose(rows -> found(life, rows));
  }

  private static Future<LateRows.Found> found(String life, RowSet<Row> rows) {
    LateRows.Found found = new LateRows.Found();
    for (Row row : rows) {
      if (!life.equals(row.getString(0))) {
        return Future.failedFuture(
            new FencepostException(
                FailureKind.STALE, "the database is not the one that was read before"));
      }
      if (row.getLong(1) != null) {
        found.add(row.getLong(1), row.getShort(2), new Span(row.getLong(3), row.getLong(4)));
      }
    }
    return Future.succeededFuture(found);
  }

  private Future<RowSet<Row>> run(String sql, Tuple arguments) {
    return database.with(DEADLINE, c -> c.preparedQuery(sql).execute(arguments));
  }

  private Future<RowSet<Row>> read(String sql, Tuple arguments) {
    return pages.with(DEADLINE, c -> c.preparedQuery(sql).execute(arguments));
  }

  private static Long[] boxed(long[] values) {
    Long[] boxed = new Long[values.length];
    for (int i = 0; i < values.length; i++) {
      boxed[i] = values[i];
    }
    return boxed;
  }
}
