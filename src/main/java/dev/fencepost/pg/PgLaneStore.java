package dev.fencepost.pg;

import dev.fencepost.decide.Snapshot;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.LagCause;
import dev.fencepost.model.ParkedReason;
import dev.fencepost.model.StorableText;
import dev.fencepost.relay.Checkpoint;
import dev.fencepost.relay.Cursor;
import dev.fencepost.relay.LaneStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Leases, checkpoints and parked rows in PostgreSQL. Renewals have a connection of their own. */
public final class PgLaneStore implements LaneStore {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int DETAIL_BYTES = 2000;

  private final PgDatabase database;

  /** For what looks up rows of the outbox. */
  private final PgDatabase byIndex;

  private final OwnConnection renewing;

  public PgLaneStore(PgDatabase database) {
    this.database = database;
    this.byIndex = database.byIndex();
    this.renewing = new OwnConnection(byIndex, "lease");
  }

  @Override
  public Future<Standing> renew(String instance, Duration ttl, List<Report> reports) {
    return renewing.with(
        ttl.dividedBy(3),
        c ->
            hiding(c, reports)
                .compose(
                    hiding -> {
                      Tuple arguments = LaneTuples.reports(instance, ttl, reports, hiding);
                      Future<RowSet<Row>> renewed = run(c, LaneSql.RENEW, arguments);
                      Future<RowSet<Row>> all = run(c, LaneSql.STANDING, Tuple.tuple());
                      return Future.all(renewed, all)
                          .map(v -> StandingRows.read(instance, renewed.result(), all.result()));
                    }));
  }

  /** Looks for the transaction that a lane waits for, where one does. */
  private Future<LaneTuples.@Nullable Hiding> hiding(SqlConnection c, List<Report> reports) {
    Long[] awaited =
        reports.stream()
            .map(Report::lag)
            .filter(lag -> lag.cause() == LagCause.NONE)
            .flatMap(lag -> lag.awaited().stream())
            .distinct()
            .toArray(Long[]::new);
    if (awaited.length == 0) {
      return Future.succeededFuture();
    }
    return run(c, LaneSql.HIDING, Tuple.tuple().addArrayOfLong(awaited))
        .map(
            rows -> {
              for (Row row : rows) {
                return new LaneTuples.Hiding(
                    row.getLong(0), row.getString(1), row.getOffsetDateTime(2));
              }
              return null;
            });
  }

  @Override
  public Future<List<Taken>> take(String instance, Duration ttl, Set<Integer> lanes) {
    return database
        .with(DEADLINE, c -> run(c, OutboxSql.BEGIN_LIFE, Tuple.tuple()))
        .compose(v -> database.inTransaction(DEADLINE, c -> take(c, instance, ttl, lanes)))
        .compose(
            fences ->
                fences.isEmpty()
                    ? Future.succeededFuture(List.of())
                    : database.with(DEADLINE, c -> load(c, fences)));
  }

  /** The fences of the lanes that were taken. */
  private Future<Map<Integer, Long>> take(
      SqlConnection c, String instance, Duration ttl, Set<Integer> lanes) {
    return run(c, LaneSql.HOLD, Tuple.tuple().addArrayOfShort(LaneTuples.shorts(lanes)))
        .compose(
            held -> {
              List<Short> free = new ArrayList<>();
              held.forEach(row -> free.add(row.getShort(0)));
              Short[] these = free.toArray(Short[]::new);
              return run(c, LaneSql.TAKE, Tuple.of(instance, ttl.toMillis(), these));
            })
        .map(
            taken -> {
              Map<Integer, Long> fences = new HashMap<>();
              taken.forEach(row -> fences.put((int) row.getShort(0), row.getLong(1)));
              return fences;
            });
  }

  private Future<List<Taken>> load(SqlConnection c, Map<Integer, Long> fences) {
    Short[] lanes = LaneTuples.shorts(fences.keySet());
    Future<RowSet<Row>> newest = run(c, LaneSql.NEWEST, Tuple.tuple().addArrayOfShort(lanes));
    Future<RowSet<Row>> parked = run(c, LaneSql.PARKED_SEQS, Tuple.tuple().addArrayOfShort(lanes));
    return Future.all(newest, parked)
        .map(
            v -> {
              Map<Integer, ParkedOfLane> parkedRows = ParkedOfLane.read(parked.result());
              List<Taken> taken = new ArrayList<>();
              for (Row row : newest.result()) {
                Checkpoint checkpoint = checkpoint(row);
                int lane = checkpoint.lane();
                ParkedOfLane its = parkedRows.getOrDefault(lane, new ParkedOfLane());
                taken.add(
                    new Taken(
                        row.getString(9),
                        checkpoint,
                        fences.getOrDefault(lane, -1L),
                        its.keys,
                        its.seqs,
                        its.gone,
                        its.refused));
              }
              return taken;
            });
  }

  private static Checkpoint checkpoint(Row row) {
    Snapshot last = Snapshot.parse(row.getString(3));
    Map<Long, Long> floors = new HashMap<>();
    long[] xip = last.xip();
    Long[] stored = row.getArrayOfLongs(5);
    for (int i = 0; i < xip.length && i < stored.length; i++) {
      if (stored[i] >= 0) {
        floors.put(xip[i], stored[i]);
      }
    }
    String cur = row.getString(6);
    Cursor.Ahead ahead = cur == null ? null : new Cursor.Ahead(Snapshot.parse(cur), row.getLong(7));
    Cursor cursor = new Cursor(last, row.getLong(4), floors, ahead, row.getLong(8));
    return new Checkpoint(row.getShort(0), row.getLong(1), row.getLong(2), -1, cursor);
  }

  @Override
  public Future<Void> release(String instance, Map<Integer, Long> fences) {
    Tuple arguments =
        Tuple.of(
            instance, LaneTuples.shorts(fences.keySet()), fences.values().toArray(Long[]::new));
    return database.with(DEADLINE, c -> run(c, LaneSql.RELEASE, arguments)).mapEmpty();
  }

  @Override
  public Future<Void> leave(String instance) {
    return database
        .with(
            DEADLINE,
            c ->
                Future.all(
                    run(c, LaneSql.LEAVE, Tuple.of(instance)), run(c, LaneSql.BURY, Tuple.tuple())))
        .eventually(renewing::close)
        .mapEmpty();
  }

  @Override
  public Future<Boolean> park(
      String owner, String life, List<Parking> rows, Checkpoint checkpoint) {
    int n = rows.size();
    Long[] seqs = new Long[n];
    String[] reasons = new String[n];
    String[] details = new String[n];
    Integer[] attempts = new Integer[n];
    Long[] retryIn = new Long[n];
    for (int i = 0; i < n; i++) {
      Parking row = rows.get(i);
      seqs[i] = row.row().seq();
      reasons[i] = row.reason().wire();
      details[i] = row.detail() == null ? null : StorableText.of(row.detail(), DETAIL_BYTES);
      attempts[i] = row.attempts();
      retryIn[i] = refused(row) ? row.retryIn().toMillis() : null;
    }
    short lane = (short) checkpoint.lane();
    Tuple parking = Tuple.of(lane, seqs, reasons, details, attempts, retryIn);
    return byIndex
        .inTransaction(
            DEADLINE,
            c -> {
              Future<RowSet<Row>> inserted = run(c, LaneSql.PARK, parking);
              run(c, ParkedSql.DEMOTE, LaneTuples.with(lane, keys(rows, true)));
              run(c, ParkedSql.PROMOTE, LaneTuples.with(lane, keys(rows, false)));
              Future<RowSet<Row>> appended =
                  run(c, OutboxSql.MARK, CheckpointTuple.of(owner, life, List.of(checkpoint)));
              return Future.all(inserted, appended).compose(v -> accepted(appended.result()));
            })
        .recover(
            e ->
                FencepostException.is(e, FailureKind.LEASE_LOST)
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(e));
  }

  private static boolean refused(Parking row) {
    return row.reason() != ParkedReason.BEHIND_KEY;
  }

  /** Of all of them, or of those that were refused themselves. */
  private static String[] keys(List<Parking> rows, boolean refused) {
    return rows.stream()
        .filter(each -> !refused || refused(each))
        .map(each -> each.row().key())
        .filter(Objects::nonNull)
        .distinct()
        .toArray(String[]::new);
  }

  private static Future<Boolean> accepted(RowSet<Row> marked) {
    return marked.iterator().next().getArrayOfShorts("appended").length == 1
        ? Future.succeededFuture(true)
        : Future.failedFuture(
            new FencepostException(FailureKind.LEASE_LOST, "not the lane's owner"));
  }

  private Future<RowSet<Row>> run(SqlConnection c, String sql, Tuple arguments) {
    return c.preparedQuery(database.sql(sql)).execute(arguments);
  }
}
