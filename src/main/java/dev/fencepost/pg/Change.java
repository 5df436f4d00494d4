package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.AttemptOutcome;
import dev.fencepost.model.DeadLetterReason;
import dev.fencepost.model.Delivery;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.worker.DeadLettered;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One running row on its way to another state: the rows of {@link SettleSql#CHANGE}. */
record Change(
    ActivityId id,
    long fence,
    Aim aim,
    Ended ended,
    @Nullable Note note,
    Delivery.@Nullable Envelope envelope) {

  /**
   * Where to, unless a receipt is there that says otherwise.
   *
   * @param retries added to the row's count; {@code uncounted} taken from its attempts
   */
  record Aim(
      ActivityState state,
      Duration delay,
      int retries,
      int uncounted,
      @Nullable DeadLetterReason reason,
      @Nullable Receipt receipt) {

    static Aim of(ActivityState state) {
      return new Aim(state, Duration.ZERO, 0, 0, null, null);
    }

    static Aim completed(@Nullable Receipt receipt) {
      return new Aim(ActivityState.COMPLETED, Duration.ZERO, 0, 0, null, receipt);
    }

    static Aim dead(DeadLetterReason reason) {
      return new Aim(ActivityState.DEAD, Duration.ZERO, 0, 0, reason, null);
    }

    static Aim again(Duration delay, int retries, int uncounted) {
      return new Aim(ActivityState.RETRY_SCHEDULED, delay, retries, uncounted, null, null);
    }
  }

  /**
   * How the newest attempt ended, if it is still open.
   *
   * @param raises whether the fence is raised, for a run that may go on
   * @param keeps whether the row is never purged
   * @param suspects whether an attempt that is still open ended with its process
   */
  record Ended(
      AttemptOutcome outcome,
      @Nullable ErrorInfo error,
      boolean raises,
      boolean keeps,
      boolean suspects) {}

  /** What the audit log is told of it. */
  record Note(String action, String detail, @Nullable String evidence) {}

  /** Which rows may be changed, and in whose name. */
  record By(@Nullable String owner, boolean expired, String actor) {}

  /**
   * What has become of a row.
   *
   * @param letter the dead letter that was written
   */
  record Changed(
      ActivityState state,
      @Nullable String key,
      long fence,
      int generation,
      @Nullable DeadLettered letter) {}

  /**
   * Carries out a group in one statement.
   *
   * @return by index; those that found no row of theirs are missing
   */
  static Future<Map<Integer, Changed>> carryOut(
      SqlConnection connection, String statement, By by, List<Change> group) {
    Columns<Change> columns =
        new Columns<>(group)
            .value(by.owner)
            .value(by.expired)
            .value(by.actor)
            .names(c -> c.id.consumer())
            .names(c -> c.id.eventId())
            .longs(Change::fence)
            .names(c -> c.aim.state.wire())
            .names(c -> c.ended.outcome.wire())
            .longs(c -> c.aim.delay.toMillis())
            .longs(c -> c.aim.retries)
            .longs(c -> c.aim.uncounted)
            .texts(error(ErrorInfo::errorClass))
            .texts(error(ErrorInfo::message))
            .texts(error(ErrorInfo::cause))
            .names(c -> c.aim.receipt == null ? null : c.aim.receipt.outcome().wire())
            .receipts(c -> c.aim.receipt == null ? null : c.aim.receipt.body())
            .names(c -> c.aim.reason == null ? null : c.aim.reason.wire())
            .booleans(c -> c.ended.raises)
            .booleans(c -> c.ended.keeps)
            .booleans(c -> c.ended.suspects)
            .names(c -> c.note == null ? null : c.note.action)
            .texts(c -> c.note == null ? null : c.note.detail)
            .texts(c -> c.note == null ? null : c.note.evidence);
    StoredMessage.columns(columns.tuple(), group, Change::envelope);
    return connection
        .preparedQuery(statement)
        .execute(columns.tuple())
        .map(
            rows -> {
              Map<Integer, Changed> changed = new HashMap<>();
              rows.forEach(row -> changed.put(row.getLong("ord").intValue() - 1, changed(row)));
              return changed;
            });
  }

  private static Changed changed(Row row) {
    return new Changed(
        ActivityState.ofWire(row.getString("state")),
        row.getString("ordering_key"),
        row.getLong("fence"),
        row.getInteger("generation"),
        WrittenLetters.of(row));
  }

  private static Function<Change, @Nullable String> error(
      Function<ErrorInfo, @Nullable String> part) {
    return c -> c.ended.error == null ? null : part.apply(c.ended.error);
  }
}
