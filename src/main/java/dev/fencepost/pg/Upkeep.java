package dev.fencepost.pg;

import dev.fencepost.decide.RetryBudget;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.model.StorableText;
import dev.fencepost.worker.ActivityStore.BudgetCounts;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Poison, unknown types, the audit log, counts and retention. */
final class Upkeep {
  private static final int ERROR_BYTES = 16 * 1024;
  private static final int NAME_BYTES = 1024;

  private final DurableWork work;
  private final KeyReleases releases;
  private final WrittenLetters letters;
  private final Pulse pulse;

  Upkeep(DurableWork work, KeyReleases releases, WrittenLetters letters, Pulse pulse) {
    this.work = work;
    this.pulse = pulse;
    this.releases = releases;
    this.letters = letters;
  }

  private Future<RowSet<Row>> execute(String statement, Tuple values) {
    return work.execute(work.sql(statement), values);
  }

  private static @Nullable String error(@Nullable String text) {
    return StorableText.ofNullable(text, ERROR_BYTES);
  }

  /** Whether this is what wrote the dead letter. */
  Future<Boolean> poison(
      ActivityId identity, @Nullable String type, Delivery.Envelope envelope, ErrorInfo error) {
    ActivityId id = ClaimGroups.storable(identity);
    Tuple values =
        Tuple.of(id.consumer(), id.eventId(), StorableText.ofNullable(type, NAME_BYTES))
            .addValue(error(error.errorClass()))
            .addValue(error(error.message()))
            .addValue(error(error.cause()));
    StoredMessage message = StoredMessage.of(envelope);
    if (message != null) {
      values
          .addValue(message.exchange())
          .addValue(message.routingKey())
          .addValue(message.headers())
          .addValue(message.properties())
          .addValue(message.body());
    }
    return execute(UpkeepSql.POISON, values).map(rows -> rows.size() > 0);
  }

  Future<Integer> resolveTypes(String consumer, List<String> known, Duration cap, int page) {
    return Pulse.when(pulse.hasUnresolved(consumer), () -> resolve(consumer, known, cap, page), 0);
  }

  private Future<Integer> resolve(String consumer, List<String> known, Duration cap, int page) {
    String[] types = known.toArray(String[]::new);
    return execute(UpkeepSql.RESOLVE, Tuple.of(consumer, types, (long) page))
        .compose(
            due ->
                execute(UpkeepSql.GIVE_UP, Tuple.of(consumer, types, (long) page, cap.toMillis()))
                    .compose(
                        dead -> {
                          letters.tell(dead);
                          KeyReleases.Keys ended = new KeyReleases.Keys();
                          dead.forEach(
                              row ->
                                  ended.ended(ActivityRows.id(row), row.getString("ordering_key")));
                          pulse.scheduled(Duration.ZERO); // types that are known now are due
                          return releases.after(due.size() + dead.size(), ended);
                        }));
  }

  /**
   * @param evidence what was found; {@code detail} what it is about
   */
  record Line(String actor, String action, @Nullable String evidence, @Nullable String detail) {}

  /** A line of the audit log about one start. */
  Future<Void> audit(Start start, Line line) {
    ActivityId id = ClaimGroups.storable(start.id());
    Tuple values =
        Tuple.of(line.actor, line.action, id.consumer(), id.eventId())
            .addValue(start.generation)
            .addValue(start.fence)
            .addValue(error(line.evidence))
            .addValue(error(line.detail));
    return execute(UpkeepSql.AUDIT, values).mapEmpty();
  }

  record Start(ActivityId id, int generation, long fence) {}

  Future<BudgetCounts> countStarts(String consumer, String type, long[] firstStarts, long retries) {
    Long[] first = Arrays.stream(firstStarts).boxed().toArray(Long[]::new);
    Tuple values = Tuple.of(consumer, type, first, retries, RetryBudget.WINDOW.toSeconds());
    return execute(UpkeepSql.COUNT_STARTS, values)
        .map(
            rows -> {
              Row row = rows.iterator().next();
              return new BudgetCounts(
                  row.getLong("first_starts"), row.getLong("retries"), row.getLong("second"));
            });
  }

  Future<Void> uncountRetries(String consumer, String type, long second, long retries) {
    return execute(UpkeepSql.UNCOUNT_RETRIES, Tuple.of(consumer, type, second, retries)).mapEmpty();
  }

  Future<Long> openReviews(String consumer) {
    return Pulse.when(pulse.hasReviews(consumer), () -> countReviews(consumer), 0L);
  }

  private Future<Long> countReviews(String consumer) {
    return execute(UpkeepSql.OPEN_REVIEWS, Tuple.of(consumer))
        .map(rows -> rows.iterator().next().getLong("open"));
  }

  Future<Integer> purge(String consumer, Duration olderThan, int page) {
    return Pulse.when(
        pulse.mayPurge(consumer, olderThan), () -> purgePage(consumer, olderThan, page), 0);
  }

  private Future<Integer> purgePage(String consumer, Duration olderThan, int page) {
    return execute(UpkeepSql.PURGE, Tuple.of(consumer, olderThan.toMillis(), (long) page))
        .map(
            rows -> {
              int purged = rows.iterator().next().getLong("purged").intValue();
              if (purged < page) {
                pulse.purged(consumer);
              }
              return purged;
            });
  }
}
