package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.ActivityQuery;
import dev.fencepost.operations.DeadLetterDesk;
import dev.fencepost.operations.Operations;
import dev.fencepost.operations.OutboxDesk;
import dev.fencepost.operations.Pacing;
import dev.fencepost.operations.ReviewDesk;
import dev.fencepost.operations.StatusQuery;
import dev.fencepost.pg.PgAuditStore;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.pg.PgDeadLetterChanges;
import dev.fencepost.pg.PgDeadLetterStore;
import dev.fencepost.pg.PgHistoryStore;
import dev.fencepost.pg.PgParkedRequests;
import dev.fencepost.pg.PgParkedStore;
import dev.fencepost.pg.PgReplayStore;
import dev.fencepost.pg.PgReviewStore;
import dev.fencepost.pg.PgStatusStore;
import io.vertx.core.Vertx;

/** Puts the use cases of operators over the stores. */
final class Operating {

  private Operating() {}

  static Operations on(Vertx vertx, PgDatabase database, FencepostConfig config) {
    Pacing pacing = time -> vertx.timer(Math.max(1, time.toMillis())).mapEmpty();
    PgHistoryStore history = new PgHistoryStore(database);
    return new Operations(
        new StatusQuery(new PgStatusStore(database), config.queues().keySet()),
        new ActivityQuery(history),
        new ReviewDesk(history, new PgReviewStore(database)),
        new DeadLetterDesk(
            new PgDeadLetterStore(database), new PgDeadLetterChanges(database), pacing),
        new OutboxDesk(
            new OutboxDesk.Stores(
                new PgParkedStore(database),
                new PgParkedRequests(database),
                new PgReplayStore(database)),
            pacing),
        new PgAuditStore(database));
  }
}
