package dev.fencepost.pg;

import dev.fencepost.operations.BoundedCount;
import dev.fencepost.operations.Status;
import dev.fencepost.operations.StatusStore;
import dev.fencepost.operations.ViewRow;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Lanes and queues as the database knows them. */
public final class PgStatusStore implements StatusStore {
  private static final Duration DEADLINE = Duration.ofSeconds(8);

  private final PgDatabase database;

  public PgStatusStore(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<List<ViewRow>> lanes() {
    return database.with(
        DEADLINE, c -> c.query(database.sql(OperationsSql.LANES)).execute().map(ViewRows::of));
  }

  @Override
  public Future<List<Status.QueueStatus>> queues(Set<String> configured) {
    return database.with(
        DEADLINE,
        c ->
            c.query(database.sql(OperationsSql.CONSUMERS))
                .execute()
                .map(
                    rows -> {
                      Set<String> all = new TreeSet<>(configured);
                      rows.forEach(row -> all.add(row.getString(0)));
                      return all.toArray(String[]::new);
                    })
                .compose(
                    consumers ->
                        c.preparedQuery(database.sql(OperationsSql.COUNTS))
                            .execute(Tuple.of(consumers)))
                .map(
                    rows -> {
                      List<Status.QueueStatus> queues = new ArrayList<>();
                      rows.forEach(row -> queues.add(queue(row)));
                      return queues;
                    }));
  }

  private static Status.QueueStatus queue(Row row) {
    long scheduled = row.getLong("scheduled");
    boolean more = scheduled > BoundedCount.BOUND;
    // Which of them were looked at is by chance: beyond the bound both numbers are at least so
    // many.
    long due = Math.min(row.getLong("due"), BoundedCount.BOUND);
    long later = Math.min(scheduled - row.getLong("due"), BoundedCount.BOUND);
    Long overdue = row.getLong("overdue");
    return new Status.QueueStatus(
        row.getString("consumer"),
        new Status.QueueStatus.Waiting(
            count(row, "running"),
            new BoundedCount(due, more),
            new BoundedCount(later, more),
            count(row, "blocked")),
        new Status.QueueStatus.Ended(
            count(row, "reviews"), count(row, "unresolved"), count(row, "dead_letters")),
        overdue == null ? null : Duration.ofMillis(overdue));
  }

  private static BoundedCount count(Row row, String column) {
    return BoundedCount.ofFound(row.getLong(column));
  }
}
