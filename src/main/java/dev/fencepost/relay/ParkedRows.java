package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Port: parked rows of a lane, changed by its fenced owner alone. */
public interface ParkedRows {

  /**
   * Rows whose time has come, the longest due first, each with those behind it of its key, in
   * order; the first is always whole within the limit.
   */
  Future<List<Due>> due(int lane, OutboxStore.Limit limit);

  /**
   * Takes published rows away and puts refused ones off; what then comes first of its key is due at
   * once. Fails with LEASE_LOST, changing nothing, when the lane is not ours.
   */
  Future<State> settle(LaneOwner owner, List<Answer> answers);

  /**
   * Puts off all due rows that go where nothing is taken, in their order; those that go where one
   * was tried come last, so that each routing key has its turn. Fails as {@link #settle}.
   *
   * @param tried rows that went there
   */
  Future<State> postpone(LaneOwner owner, Destination to, Duration by, List<OutboxRow> tried);

  /** Carries out what operators asked of rows of this lane. Fails as {@link #settle}. */
  Future<State> carryOut(LaneOwner owner);

  /**
   * Where rows go.
   *
   * @param routingKey null: all of the exchange's
   */
  record Destination(String exchange, @Nullable String routingKey) {
    static Destination single(OutboxRow.Route route) {
      return new Destination(route.exchange(), route.routingKey());
    }

    static Destination whole(OutboxRow.Route route) {
      return new Destination(route.exchange(), null);
    }

    /** Whether such a row goes there. */
    boolean takes(OutboxRow.Route route) {
      return exchange.equals(route.exchange())
          && (routingKey == null || routingKey.equals(route.routingKey()));
    }
  }

  record LaneOwner(String instance, int lane, long fence) {}

  /**
   * @param attempts so far
   */
  record Due(OutboxRow row, ParkedReason reason, int attempts) {}

  /**
   * @param refusal null: published
   */
  record Answer(
      OutboxRow row, @Nullable ParkedReason refusal, @Nullable String detail, Duration retryIn) {}

  /**
   * @param free keys asked about that have no parked rows any more
   * @param removed rows that are not parked any more
   * @param carried what was done of what operators had asked for
   * @param next until the next one is due, or null when none will be
   */
  record State(Set<String> free, int removed, List<Carried> carried, @Nullable Duration next) {}

  /**
   * @param action as the operator called it
   * @param seq of the row
   * @param to where a redirected row goes, or null
   */
  record Carried(
      String action,
      long seq,
      String eventId,
      @Nullable String key,
      OutboxRow.@Nullable Route to,
      String operator) {}
}
