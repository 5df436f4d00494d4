package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.model.StorableText;
import dev.fencepost.operations.ReviewRequest;
import dev.fencepost.operations.ReviewStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.Locale;

/** Settles reviews: compare and set on state and fence, one line in the audit log. */
public final class PgReviewStore implements ReviewStore {
  private static final int TEXT_BYTES = 64 * 1024;

  private final DurableWork work;
  private final KeyReleases releases;

  public PgReviewStore(PgDatabase database) {
    work = new DurableWork(database);
    releases = new KeyReleases(work, consumer -> {});
  }

  @Override
  public Future<Resolution> resolve(ReviewRequest request) {
    String decision = request.decision().name().toLowerCase(Locale.ROOT);
    Tuple values =
        Tuple.of(request.consumer(), request.eventId(), decision, request.fence())
            .addValue(StorableText.of(request.operator(), TEXT_BYTES))
            .addValue(StorableText.of(request.evidence(), TEXT_BYTES));
    return work.execute(work.sql(OperatorSql.RESOLVE), values)
        .compose(
            rows -> {
              for (Row row : rows) {
                return row.getString("state") == null
                    ? Future.failedFuture(stale(request, row))
                    : resolved(request, row);
              }
              return Future.failedFuture(
                  new FencepostException(FailureKind.NOT_FOUND, "there is no " + name(request)));
            });
  }

  private Future<Resolution> resolved(ReviewRequest request, Row row) {
    ActivityState state = ActivityState.ofWire(row.getString("state"));
    KeyReleases.Keys ended = new KeyReleases.Keys();
    if (state != ActivityState.RETRY_SCHEDULED) {
      ended.ended(
          new ActivityId(request.consumer(), request.eventId()), row.getString("ordering_key"));
    }
    Resolution resolution =
        new Resolution(
            request.consumer(),
            request.eventId(),
            state,
            row.getLong("fence"),
            row.getInteger("generation"));
    return releases.after(resolution, ended);
  }

  private static FencepostException stale(ReviewRequest request, Row row) {
    String was = row.getString("was");
    String why =
        was.equals(ActivityState.MANUAL_REVIEW.wire())
            ? "has fence " + row.getLong("fence") + " now, not " + request.fence()
            : "is " + was + ", not in review";
    return new FencepostException(FailureKind.STALE, name(request) + " " + why);
  }

  private static String name(ReviewRequest request) {
    return "activity " + request.consumer() + " " + request.eventId();
  }
}
