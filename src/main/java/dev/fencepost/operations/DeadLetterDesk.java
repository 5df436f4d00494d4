package dev.fencepost.operations;

import dev.fencepost.flow.Steps;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.BulkResult.Outcome;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Use case: look at dead letters, redrive them, discard them. */
public final class DeadLetterDesk {
  /** Of one call to the store. */
  static final int CHUNK = 100;

  private final DeadLetterStore store;
  private final DeadLetterChanges changes;
  private final Pacing pacing;

  public DeadLetterDesk(DeadLetterStore store, DeadLetterChanges changes, Pacing pacing) {
    this.store = store;
    this.changes = changes;
    this.pacing = pacing;
  }

  public Future<Page<ViewRow>> list(DeadLetterFilter filter, Page.Request page) {
    return store.list(filter, page);
  }

  /**
   * @return with the whole body; fails with NOT_FOUND
   */
  public Future<ViewRow> show(long id) {
    return store
        .find(id)
        .compose(
            row ->
                row == null
                    ? Future.failedFuture(
                        new FencepostException(
                            FailureKind.NOT_FOUND, "there is no dead letter " + id))
                    : Future.succeededFuture(row));
  }

  /**
   * Those that die while this runs are not touched, so that it ends.
   *
   * @return item by item; fails only when nothing at all could be done
   */
  public Future<BulkResult> redrive(BulkRequest request, Progress progress) {
    return new Run(request, progress, Outcome.WOULD_REDRIVE, changes::redrive).start();
  }

  /** As {@link #redrive}, but the event is given up. */
  public Future<BulkResult> discard(BulkRequest request, Progress progress) {
    return new Run(request, progress, Outcome.WOULD_DISCARD, changes::discard).start();
  }

  private interface Change {
    Future<List<DeadLetterChanges.Change>> apply(List<Long> ids, Who who);
  }

  private final class Run {
    private final BulkRequest request;
    private final Progress progress;
    private final Outcome would;
    private final Change change;
    private final int chunk;
    private final List<BulkResult.Item> items = new ArrayList<>();
    private List<Long> left = List.of();
    private int from;
    private long after;
    private boolean more;

    Run(BulkRequest request, Progress progress, Outcome would, Change change) {
      this.request = request;
      this.progress = progress;
      this.would = would;
      this.change = change;
      int rate = request.pace().ratePerSecond();
      this.chunk = rate == 0 || request.pace().dryRun() ? CHUNK : Math.min(rate, CHUNK);
    }

    Future<BulkResult> start() {
      if (!request.ids().isEmpty()) {
        left = request.ids().subList(0, Math.min(request.pace().max(), request.ids().size()));
        return Steps.until(this::nextListed)
            .map(done -> result(left.size() < request.ids().size(), null))
            .recover(this::stopped);
      }
      return store
          .newestId()
          .compose(last -> Steps.until(() -> nextFiltered(last)))
          .map(done -> result(more, null))
          .recover(this::stopped);
    }

    private Future<Boolean> nextFiltered(long last) {
      int size = Math.min(chunk, request.pace().max() - items.size());
      DeadLetterFilter open = request.filter().withState(DeadLetterFilter.State.OPEN);
      return store
          .between(open, after, last, size + 1)
          .compose(
              found -> {
                more = found.size() > size;
                List<ViewRow> rows = more ? found.subList(0, size) : found;
                if (rows.isEmpty()) {
                  return Future.succeededFuture(false);
                }
                after = rows.get(rows.size() - 1).number("id");
                return step(rows)
                    .compose(done -> another(more && items.size() < request.pace().max()));
              });
    }

    private Future<Boolean> nextListed() {
      List<Long> now = left.subList(from, Math.min(from + chunk, left.size()));
      from += now.size();
      return store
          .byIds(now)
          .compose(
              rows -> {
                Map<Long, ViewRow> known = new HashMap<>();
                rows.forEach(row -> known.put(row.number("id"), row));
                now.stream().filter(id -> !known.containsKey(id)).forEach(this::missing);
                return step(now.stream().map(known::get).filter(row -> row != null).toList());
              })
          .compose(done -> another(from < left.size()));
    }

    private Future<Boolean> another(boolean there) {
      return there ? pause().map(true) : Future.succeededFuture(false);
    }

    private void missing(long id) {
      items.add(
          new BulkResult.Item(
              id, new ViewRow(Map.of()), Outcome.NOT_FOUND, "there is no dead letter " + id));
    }

    private Future<Void> step(List<ViewRow> rows) {
      Who who = request.who();
      if (rows.isEmpty()) {
        return Future.succeededFuture();
      }
      if (request.pace().dryRun() || who == null) {
        rows.forEach(row -> items.add(dry(row)));
        progress.done(items.size());
        return Future.succeededFuture();
      }
      List<Long> ids = rows.stream().map(row -> row.number("id")).toList();
      return change
          .apply(ids, who)
          .map(
              outcomes -> {
                Map<Long, DeadLetterChanges.Change> byId = new HashMap<>();
                outcomes.forEach(outcome -> byId.put(outcome.id(), outcome));
                rows.forEach(row -> items.add(done(row, byId)));
                progress.done(items.size());
                return null;
              });
    }

    private BulkResult.Item dry(ViewRow row) {
      boolean open = "open".equals(row.text("state"));
      return new BulkResult.Item(
          row.number("id"),
          row,
          open ? would : Outcome.UNCHANGED,
          open ? null : "is " + row.text("state"));
    }

    private BulkResult.Item done(ViewRow row, Map<Long, DeadLetterChanges.Change> byId) {
      long id = row.number("id");
      DeadLetterChanges.Change made = byId.get(id);
      return made == null
          ? new BulkResult.Item(id, row, Outcome.FAILED, "the store gave no outcome")
          : new BulkResult.Item(id, row, made.outcome(), made.detail());
    }

    private Future<Void> pause() {
      int rate = request.pace().ratePerSecond();
      return rate == 0 || request.pace().dryRun()
          ? Future.succeededFuture()
          : pacing.pause(Duration.ofMillis(1000L * chunk / rate));
    }

    /** What was done stays done and is reported; only a run that did nothing fails as a whole. */
    private Future<BulkResult> stopped(Throwable cause) {
      return items.isEmpty()
          ? Future.failedFuture(cause)
          : Future.succeededFuture(result(true, String.valueOf(cause.getMessage())));
    }

    private BulkResult result(boolean more, @Nullable String stopped) {
      return new BulkResult(request.pace().dryRun(), List.copyOf(items), more, stopped);
    }
  }
}
