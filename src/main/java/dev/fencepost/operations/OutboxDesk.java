package dev.fencepost.operations;

import dev.fencepost.flow.Steps;
import dev.fencepost.model.FailureKind;
import dev.fencepost.model.FencepostException;
import dev.fencepost.operations.BulkResult.Outcome;
import dev.fencepost.operations.ParkedRequest.Action;
import io.vertx.core.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Use case: rows that the broker refused, and publishing what is retained once more. */
public final class OutboxDesk {
  /** Rows of one key that a single request may touch. */
  static final int MAX_OF_KEY = 10_000;

  private static final int STEP = 1000;

  private final Stores stores;
  private final Pacing pacing;

  /** What it needs. */
  public record Stores(ParkedStore parked, ParkedRequests requests, ReplayStore replay) {}

  public OutboxDesk(Stores stores, Pacing pacing) {
    this.stores = stores;
    this.pacing = pacing;
  }

  public Future<Page<ViewRow>> parked(ParkedFilter filter, Page.Request page) {
    return stores.parked.list(filter, page);
  }

  /**
   * Asks the lane's owner.
   *
   * @return row by row; fails with NOT_FOUND when nothing is parked under the key or seq
   */
  public Future<BulkResult> request(ParkedRequest request) {
    return find(request.row())
        .compose(
            rows -> {
              if (rows.isEmpty()) {
                return Future.failedFuture(
                    new FencepostException(
                        FailureKind.NOT_FOUND,
                        "nothing is parked under the key or seq " + request.row().name()));
              }
              List<ViewRow> meant = meant(request, rows);
              List<Long> seqs = meant.stream().map(row -> row.number("seq")).toList();
              return stores
                  .requests
                  .request(request, seqs)
                  .map(recorded -> result(meant, new HashSet<>(recorded)));
            });
  }

  private Future<List<ViewRow>> find(ParkedRequest.Row row) {
    return switch (row.by()) {
      case KEY -> stores.parked.ofKey(row.name(), MAX_OF_KEY);
      case SEQ -> stores.parked.ofSeq(Input.number("seq", row.name(), 1));
      case KEY_OR_SEQ ->
          stores
              .parked
              .ofKey(row.name(), MAX_OF_KEY)
              .compose(
                  rows ->
                      rows.isEmpty() && row.name().matches("\\d{1,18}")
                          ? stores.parked.ofSeq(Long.parseLong(row.name()))
                          : Future.succeededFuture(rows));
    };
  }

  private static List<ViewRow> meant(ParkedRequest request, List<ViewRow> rows) {
    if (request.row().all()) {
      return rows;
    }
    ViewRow head = rows.get(0);
    if (request.action() != Action.REDIRECT) {
      return List.of(head);
    }
    return rows.stream()
        .filter(row -> same(row, head, "exchange") && same(row, head, "routing_key"))
        .toList();
  }

  private static boolean same(ViewRow a, ViewRow b, String column) {
    return Objects.equals(a.text(column), b.text(column));
  }

  private static BulkResult result(List<ViewRow> rows, Set<Long> recorded) {
    List<BulkResult.Item> items =
        rows.stream()
            .map(
                row -> {
                  long seq = row.number("seq");
                  return recorded.contains(seq)
                      ? new BulkResult.Item(seq, row, Outcome.REQUESTED, null)
                      : new BulkResult.Item(seq, row, Outcome.UNCHANGED, "is not parked any more");
                })
            .toList();
    return new BulkResult(false, items, false, null);
  }

  /**
   * Copies what passes the filter; what is written after the start is not copied. The audit log has
   * its start and its end.
   */
  public Future<ReplayResult> replay(ReplayRequest request, Who by, Progress progress) {
    return stores
        .replay
        .now()
        .compose(
            now -> {
              Instant until = request.until() == null ? now : request.until();
              ReplayRequest bounded =
                  new ReplayRequest(
                      request.since(),
                      until,
                      request.exchange(),
                      request.type(),
                      request.dryRun(),
                      request.ratePerSecond());
              Run run = new Run(bounded, progress);
              return noted(bounded, by, null)
                  .compose(v -> Steps.until(run::step))
                  .compose(done -> noted(bounded, by, run.rows))
                  .map(v -> new ReplayResult(request.dryRun(), run.rows, request.since(), until));
            });
  }

  /** One that stops half-way has its beginning in the log. */
  private Future<Void> noted(ReplayRequest request, Who by, @Nullable Long rows) {
    return request.dryRun() ? Future.succeededFuture() : stores.replay.noted(request, by, rows);
  }

  private final class Run {
    private final ReplayRequest request;
    private final Progress progress;
    private @Nullable String after;
    private long rows;

    Run(ReplayRequest request, Progress progress) {
      this.request = request;
      this.progress = progress;
    }

    Future<Boolean> step() {
      int rate = request.dryRun() ? 0 : request.ratePerSecond();
      return stores
          .replay
          .step(request, after, rate == 0 ? STEP : Math.min(rate, STEP))
          .compose(
              step -> {
                rows += step.rows();
                after = step.next();
                progress.done(rows);
                return after == null || rate == 0
                    ? Future.succeededFuture(after != null)
                    : pacing.pause(Duration.ofMillis(1000L * step.rows() / rate)).map(true);
              });
    }
  }
}
