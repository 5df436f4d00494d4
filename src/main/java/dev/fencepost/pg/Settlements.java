package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.model.ActivityState;
import dev.fencepost.model.ErrorInfo;
import dev.fencepost.worker.Claim;
import dev.fencepost.worker.DeadLettered;
import dev.fencepost.worker.Settlement;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ends starts by owner and fence: plain successes in one update, all else in another, what found no
 * row of its own in the audit log.
 */
final class Settlements {
  private final DurableWork work;
  private final BatchLedger batches;
  private final KeyReleases releases;
  private final WrittenLetters letters;
  private final Pulse pulse;
  private final String complete;
  private final String completeBatches;
  private final String change;
  private final String missed;

  Settlements(
      DurableWork work,
      BatchLedger batches,
      KeyReleases releases,
      WrittenLetters letters,
      Pulse pulse) {
    this.work = work;
    this.pulse = pulse;
    this.letters = letters;
    this.batches = batches;
    this.releases = releases;
    this.complete = work.sql(SettleSql.COMPLETE);
    this.completeBatches = work.sql(SettleSql.COMPLETE_BATCHES);
    this.change = work.sql(SettleSql.CHANGE);
    this.missed = work.sql(SettleSql.MISSED);
  }

  Future<List<Boolean>> settle(String owner, List<Settlement> group) {
    if (group.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    Round round = new Round(owner, group);
    return work.transaction(round::run).compose(v -> round.settled());
  }

  /** What a late or refused result says, for the audit log. */
  static String evidence(@Nullable Receipt receipt, @Nullable ErrorInfo error) {
    if (receipt != null) {
      return receipt.outcome().wire() + (receipt.body() == null ? "" : ": " + receipt.body());
    }
    return error == null ? "" : error.errorClass() + ": " + error.message();
  }

  /** Puts results that came too late into the audit log, unless they had been applied before. */
  Future<Map<Integer, Boolean>> missed(
      SqlConnection connection, String owner, List<Settlement> settlements) {
    if (settlements.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    Columns<Settlement> columns =
        new Columns<>(settlements)
            .value(owner)
            .names(s -> ClaimGroups.storable(s.ticket().id()).consumer())
            .names(s -> ClaimGroups.storable(s.ticket().id()).eventId())
            .longs(s -> s.ticket().fence())
            .names(s -> SettlementChanges.outcome(s.how()).wire())
            .texts(s -> SettlementChanges.evidence(s.how()))
            .texts(s -> "late " + SettlementChanges.outcome(s.how()).wire());
    return connection
        .preparedQuery(missed)
        .execute(columns.tuple())
        .map(
            rows -> {
              Map<Integer, Boolean> applied = new HashMap<>();
              rows.forEach(
                  row -> applied.put(row.getLong("ord").intValue() - 1, row.getBoolean("applied")));
              return applied;
            });
  }

  /** One group in one transaction; what it did counts once that has committed. */
  private final class Round {
    private final String owner;
    private final List<Settlement> group;
    private final Boolean[] ours; // null: not known yet
    private final KeyReleases.Keys ended = new KeyReleases.Keys();
    private final List<DeadLettered> unasked = new ArrayList<>(0);
    private WholeBatches whole = WholeBatches.none();

    Round(String owner, List<Settlement> group) {
      this.owner = owner;
      this.group = group;
      this.ours = new Boolean[group.size()];
    }

    Future<Void> run(SqlConnection connection) {
      return WholeBatches.of(batches, group)
          .complete(connection, completeBatches, owner, batches)
          .compose(
              completed -> {
                whole = completed;
                for (int i = 0; i < ours.length; i++) {
                  if (whole.has(i)) {
                    ours[i] = true; // nothing stands behind them
                  }
                }
                return rest(connection);
              });
    }

    private Future<Void> rest(SqlConnection connection) {
      List<Integer> plain =
          unsettled().stream().filter(i -> WholeBatches.plain(group.get(i))).toList();
      return complete(connection, plain)
          .compose(v -> change(connection))
          .compose(v -> missed(connection));
    }

    private Future<Void> complete(SqlConnection connection, List<Integer> plain) {
      if (plain.isEmpty()) {
        return Future.succeededFuture();
      }
      Columns<Integer> columns =
          WholeBatches.numbers(new Columns<>(batches.drain()).value(owner))
              .of(plain)
              .names(i -> id(i).consumer())
              .names(i -> id(i).eventId())
              .longs(i -> ticket(i).fence())
              .receipts(i -> ((Settlement.Completed) group.get(i).how()).receipt().body());
      return connection
          .preparedQuery(complete)
          .execute(columns.tuple())
          .map(
              rows -> {
                for (Row row : rows) {
                  int index = plain.get(row.getLong("ord").intValue() - 1);
                  done(index, row.getString("ordering_key"), true);
                }
                return null;
              });
    }

    /** What is no plain success, and plain successes whose receipt says otherwise. */
    private Future<Void> change(SqlConnection connection) {
      List<Integer> rest = unsettled();
      if (rest.isEmpty()) {
        return Future.succeededFuture();
      }
      List<Change> changes = rest.stream().map(i -> SettlementChanges.of(group.get(i))).toList();
      return Change.carryOut(connection, change, new Change.By(owner, false, owner), changes)
          .map(
              changed -> {
                changed.forEach(
                    (at, to) -> {
                      boolean over =
                          to.state() == ActivityState.COMPLETED || to.state() == ActivityState.DEAD;
                      done(rest.get(at), to.key(), over);
                      if (to.letter() != null
                          && !SettlementChanges.dies(group.get(rest.get(at)).how())) {
                        unasked.add(to.letter()); // a receipt that was there says so
                      }
                    });
                return null;
              });
    }

    private Future<Void> missed(SqlConnection connection) {
      List<Integer> rest = unsettled();
      return Settlements.this
          .missed(connection, owner, rest.stream().map(group::get).toList())
          .map(
              applied -> {
                applied.forEach((at, before) -> ours[rest.get(at)] = before);
                return null;
              });
    }

    /** In the order of the primary key: rows are locked in that order. */
    private List<Integer> unsettled() {
      List<Integer> rest = new ArrayList<>();
      for (int i = 0; i < ours.length; i++) {
        if (ours[i] == null) {
          rest.add(i);
        }
      }
      rest.sort(Comparator.comparing(i -> ticket(i).id(), ClaimGroups.byKey()));
      return rest;
    }

    private void done(int index, @Nullable String key, boolean over) {
      ours[index] = true;
      if (over) {
        ended.ended(id(index), key);
      }
    }

    Future<List<Boolean>> settled() {
      List<Boolean> answers = new ArrayList<>(group.size());
      for (int i = 0; i < group.size(); i++) {
        answers.add(Boolean.TRUE.equals(ours[i]));
        SettlementChanges.announce(group.get(i).how(), pulse);
      }
      tell();
      letters.tell(unasked);
      return releases.after(answers, ended);
    }

    private void tell() {
      List<Claim.Ticket> together = new ArrayList<>();
      for (int i = 0; i < ours.length; i++) {
        if (whole.has(i)) {
          together.add(ticket(i));
        } else if (Boolean.TRUE.equals(ours[i])
            && !(group.get(i).how() instanceof Settlement.Undecided)) {
          batches.ended(ticket(i));
        } else {
          batches.lost(ticket(i));
        }
      }
      batches.ended(whole.batches(), together);
    }

    private Claim.Ticket ticket(int index) {
      return group.get(index).ticket();
    }

    private ActivityId id(int index) {
      return ClaimGroups.storable(ticket(index).id());
    }
  }

  /** As a settlement, for what the audit log is told of a receipt that came too late. */
  static Settlement ofReceipt(Claim.Ticket ticket, Receipt receipt) {
    return new Settlement(ticket, new Settlement.Completed(receipt), null);
  }
}
