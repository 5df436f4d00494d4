package dev.fencepost.pg;

import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.worker.ActivityStore.Uncopied;
import io.vertx.core.Future;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Dead letters whose copy for the dead-letter exchange is due. */
final class UncopiedDeadLetters {
  private final DurableWork work;

  UncopiedDeadLetters(DurableWork work) {
    this.work = work;
  }

  Future<List<Uncopied>> take(String consumer, Duration lease, Duration giveUpAfter, int page) {
    Tuple values = Tuple.of(consumer, lease.toMillis(), giveUpAfter.toMillis(), (long) page);
    return work.execute(work.sql(UpkeepSql.UNCOPIED), values)
        .map(
            rows -> {
              List<Uncopied> taken = new ArrayList<>(rows.size());
              rows.forEach(
                  row ->
                      taken.add(
                          new Uncopied(
                              row.getLong("id"),
                              ActivityRows.id(row),
                              DeadLetterReason.ofWire(row.getString("reason")),
                              StoredMessage.required(row))));
              taken.sort(Comparator.comparingLong(Uncopied::id));
              return taken;
            });
  }

  Future<Void> done(List<Long> ids) {
    return work.execute(work.sql(UpkeepSql.COPIED), Tuple.of(ids.toArray(Long[]::new))).mapEmpty();
  }
}
