package dev.fencepost.pg;

import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityKind;
import dev.fencepost.model.ReceiptOutcome;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.Evidence;
import io.vertx.sqlclient.Row;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Rows of activities as the worker's values. */
final class ActivityRows {
  /** The columns of {@link #evidence}, of an activity called {@code a}. */
  static final String EVIDENCE =
      """
      a.consumer, a.event_id, a.type, a.kind, a.owner, a.fence,
      coalesce(a.attempt_fence = a.fence and a.outcome is null, false) as open_start, a.phase, a.progress_seq, a.attempts,
      greatest(a.max_attempts, a.granted) as max_attempts, a.retries, a.max_retries, a.generation,
      a.receipt_outcome, (extract(epoch from now() - a.started_at) * 1000)::bigint as since_start,
      a.body is not null as has_body, a.suspect,
      (extract(epoch from a.lease_until) * 1000000)::bigint as lease_micros,
      (extract(epoch from a.lease_until - now()) * 1000000)::bigint as lease_left
      """;

  private ActivityRows() {}

  static ActivityId id(Row row) {
    return new ActivityId(row.getString("consumer"), row.getString("event_id"));
  }

  static Evidence evidence(Row row) {
    String receipt = row.getString("receipt_outcome");
    return new Evidence(
        id(row),
        row.getString("type"),
        ActivityKind.ofWire(row.getString("kind")),
        new Evidence.Holder(
            row.getString("owner"),
            row.getLong("fence"),
            row.getBoolean("open_start"),
            row.getString("phase"),
            row.getLong("progress_seq")),
        new Evidence.Counts(
            row.getInteger("attempts"),
            row.getInteger("max_attempts"),
            row.getInteger("retries"),
            row.getInteger("max_retries"),
            row.getInteger("generation")),
        receipt == null ? null : ReceiptOutcome.ofWire(receipt),
        Duration.ofMillis(row.getLong("since_start")),
        row.getBoolean("has_body"),
        row.getBoolean("suspect"),
        new Evidence.Lease(
            row.getLong("lease_micros"), Duration.ofNanos(-row.getLong("lease_left") * 1000)));
  }

  /** A start that a statement has just counted. */
  static Claim.Ticket ticket(Row row, Claim.Work work) {
    int attempts = row.getInteger("attempts");
    return new Claim.Ticket(
        id(row),
        work,
        row.getLong("fence"),
        attempts,
        row.getInteger("retries"),
        row.getInteger("generation"),
        attempts == 1,
        row.getBoolean("suspect"));
  }

  static @Nullable String wire(@Nullable ReceiptOutcome outcome) {
    return outcome == null ? null : outcome.wire();
  }
}
