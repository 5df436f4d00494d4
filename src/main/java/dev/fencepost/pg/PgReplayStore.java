package dev.fencepost.pg;

import dev.fencepost.model.StorableText;
import dev.fencepost.operations.Cursor;
import dev.fencepost.operations.ReplayRequest;
import dev.fencepost.operations.ReplayStore;
import dev.fencepost.operations.Who;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Copies retained rows of the outbox, a stretch of the sequence in each step. */
public final class PgReplayStore implements ReplayStore {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private static final int NOTE_BYTES = 8192;

  /** Seqs a step looks at: what it costs does not depend on how much is retained. */
  private static final long STRETCH = 20_000;

  private final PgDatabase database;

  public PgReplayStore(PgDatabase database) {
    this.database = database;
  }

  /**
   * @param after the last seq that is done
   * @param upTo the last one there was when it began
   */
  private record Place(long after, long upTo) {
    static @Nullable Place read(@Nullable String text) {
      JsonArray numbers = Cursor.read(text, 2);
      return numbers == null
          ? null
          : new Place(Cursor.number(numbers, 0), Cursor.number(numbers, 1));
    }

    long end() {
      return Math.min(upTo, after + STRETCH);
    }

    @Nullable String next(long done) {
      return done >= upTo ? null : Cursor.of(done, upTo);
    }
  }

  @Override
  public Future<Instant> now() {
    return database.with(
        DEADLINE,
        c ->
            run(c, "select clock_timestamp()", Tuple.tuple())
                .map(rows -> rows.iterator().next().getOffsetDateTime(0).toInstant()));
  }

  @Override
  public Future<Step> step(ReplayRequest request, @Nullable String after, int limit) {
    return database.inTransaction(
        DEADLINE,
        c -> {
          Place given = Place.read(after);
          Future<Place> place = given == null ? first(c) : Future.succeededFuture(given);
          return place.compose(from -> step(c, request, from, limit));
        });
  }

  private Future<Place> first(SqlConnection c) {
    return run(c, ReplaySql.FIRST, Tuple.tuple())
        .map(
            rows -> {
              Row row = rows.iterator().next();
              return new Place(row.getLong(0), row.getLong(1));
            });
  }

  private Future<Step> step(SqlConnection c, ReplayRequest request, Place from, int limit) {
    Instant until = request.until();
    Tuple arguments =
        Tuple.of(
            from.after(),
            from.end(),
            time(request.since()),
            until == null ? null : time(until),
            request.exchange(),
            request.type(),
            limit);
    return run(c, request.dryRun() ? ReplaySql.FIND : ReplaySql.COPY, arguments)
        .map(
            rows -> {
              Row row = rows.iterator().next();
              long found = row.getLong(0);
              return new Step(found, from.next(found < limit ? from.end() : row.getLong(1)));
            });
  }

  @Override
  public Future<Void> noted(ReplayRequest request, Who by, @Nullable Long rows) {
    String filter =
        "since="
            + request.since()
            + " until="
            + request.until()
            + (request.exchange() == null ? "" : " exchange=" + request.exchange())
            + (request.type() == null ? "" : " type=" + request.type());
    Tuple line =
        Tuple.of(
            by.operator(),
            rows == null ? "outbox_replay" : "outbox_replay_done",
            StorableText.ofNullable(by.note(), NOTE_BYTES),
            rows == null ? filter : filter + " rows=" + rows);
    return database.with(DEADLINE, c -> run(c, ReplaySql.NOTED, line).mapEmpty());
  }

  private static OffsetDateTime time(Instant instant) {
    return instant.atOffset(ZoneOffset.UTC);
  }

  private Future<RowSet<Row>> run(SqlConnection c, String sql, Tuple arguments) {
    return c.preparedQuery(database.sql(sql)).execute(arguments);
  }
}
