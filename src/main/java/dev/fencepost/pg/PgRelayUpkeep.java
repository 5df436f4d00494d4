package dev.fencepost.pg;

import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.relay.ParkedRows;
import dev.fencepost.relay.RelayUpkeep;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Upkeep of the outbox in PostgreSQL. */
public final class PgRelayUpkeep implements RelayUpkeep {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  /** Looking through a whole slot by its index of transactions. */
  private static final Duration LONG_DEADLINE = Duration.ofMinutes(1);

  private final PgDatabase database;

  /** Of each lane, up to which of its checkpoints all but the last are deleted. */
  private final Map<Short, Long> pruned = new HashMap<>();

  public PgRelayUpkeep(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<Moved> moveDue(ParkedRows.LaneOwner owner, int limit) {
    Tuple arguments = Tuple.of((short) owner.lane(), owner.instance(), owner.fence(), limit);
    return database.with(
        DEADLINE,
        c ->
            next(c)
                .compose(
                    next ->
                        next == null || !next.isZero()
                            ? Future.succeededFuture(new Moved(0, next))
                            : run(c, RelayUpkeepSql.MOVE, arguments)
                                .compose(
                                    moved ->
                                        next(c).map(then -> new Moved(moved.rowCount(), then)))));
  }

  /** Looks before it moves: a lock would assign a transaction id. */
  private Future<@Nullable Duration> next(SqlConnection c) {
    return run(c, RelayUpkeepSql.NEXT_DUE, Tuple.tuple())
        .map(
            rows -> {
              for (Row row : rows) {
                return Duration.ofMillis(row.getLong(0));
              }
              return null;
            });
  }

  @Override
  public Future<Void> prune(Set<Integer> lanes) {
    Short[] these = LaneTuples.shorts(lanes);
    pruned.keySet().retainAll(Set.of(these));
    Long[] above = new Long[these.length];
    Arrays.setAll(above, i -> pruned.getOrDefault(these[i], -1L));
    Tuple arguments = Tuple.tuple().addArrayOfShort(these).addArrayOfLong(above);
    return database
        .with(
            DEADLINE,
            c ->
                run(c, RelayUpkeepSql.PRUNE, arguments)
                    .onSuccess(this::pruned)
                    .compose(
                        v -> run(c, ParkedSql.FORGET_GONE, Tuple.tuple().addArrayOfShort(these))))
        .mapEmpty();
  }

  private void pruned(RowSet<Row> deleted) {
    deleted.forEach(row -> pruned.merge(row.getShort(0), row.getLong(1), Math::max));
  }

  @Override
  public Future<Boolean> empty(ParkedRows.LaneOwner owner) {
    return database
        .with(
            DEADLINE,
            c ->
                run(c, RelayUpkeepSql.FORGET_REQUESTS, Tuple.tuple())
                    .compose(v -> run(c, RelayUpkeepSql.NEXT_SLOT, Tuple.tuple())))
        .compose(
            found -> {
              Row row = found.iterator().next();
              return emptySlot(row.getInteger(0), row.getLong(1));
            })
        .recover(
            e ->
                FencepostException.is(e, FailureKind.DATABASE_CONFLICT)
                    ? Future.succeededFuture(false) // somebody uses the slot: another time
                    : Future.failedFuture(e));
  }

  private Future<Boolean> emptySlot(int slot, long retention) {
    Tuple age = Tuple.of(retention);
    return database.inTransaction(
        LONG_DEADLINE,
        c ->
            run(c, RelayUpkeepSql.SHORT_WAIT, Tuple.tuple())
                .compose(v -> run(c, at(slot, RelayUpkeepSql.ANY), Tuple.tuple()))
                .compose(
                    any ->
                        truth(any)
                            ? run(c, at(slot, RelayUpkeepSql.NEEDED), age)
                                .map(needed -> !truth(needed))
                            : Future.succeededFuture(false))
                .compose(free -> free ? truncate(c, slot, age) : Future.succeededFuture(false)));
  }

  /** The check is repeated once nobody else can write to the slot. */
  private Future<Boolean> truncate(SqlConnection c, int slot, Tuple age) {
    return run(c, at(slot, RelayUpkeepSql.LOCK), Tuple.tuple())
        .compose(v -> run(c, at(slot, RelayUpkeepSql.NEEDED), age))
        .compose(
            needed ->
                truth(needed)
                    ? Future.succeededFuture(false)
                    : run(c, at(slot, RelayUpkeepSql.TRUNCATE), Tuple.tuple()).map(v -> true));
  }

  private static String at(int slot, String sql) {
    return sql.replace("${slot}", Integer.toString(slot));
  }

  private static boolean truth(RowSet<Row> rows) {
    return rows.iterator().next().getBoolean(0);
  }

  private Future<RowSet<Row>> run(SqlConnection c, String sql, Tuple arguments) {
    return c.preparedQuery(database.sql(sql)).execute(arguments);
  }
}
