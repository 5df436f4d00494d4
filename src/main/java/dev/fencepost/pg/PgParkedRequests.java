package dev.fencepost.pg;

import dev.fencepost.model.StorableText;
import dev.fencepost.operations.ParkedRequest;
import dev.fencepost.operations.ParkedRequests;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes down, with its audit line, what operators want done with parked rows. */
public final class PgParkedRequests implements ParkedRequests {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private static final int NOTE_BYTES = 8192;

  private final PgDatabase database;

  public PgParkedRequests(PgDatabase database) {
    this.database = database;
  }

  @Override
  public Future<List<Long>> request(ParkedRequest asked, List<Long> seqs) {
    ParkedRequest.Target to = asked.to();
    Tuple arguments =
        Tuple.of(
            seqs.toArray(Long[]::new),
            asked.action().name().toLowerCase(Locale.ROOT),
            to == null ? null : to.exchange(),
            to == null ? null : to.routingKey(),
            asked.by().operator(),
            StorableText.ofNullable(asked.by().note(), NOTE_BYTES));
    return database
        .with(DEADLINE, c -> c.preparedQuery(database.sql(ParkedSql.REQUEST)).execute(arguments))
        .map(
            result -> {
              List<Long> recorded = new ArrayList<>(result.size());
              for (Row row : result) {
                recorded.add(row.getLong(0));
              }
              return recorded;
            });
  }
}
