package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the row that made the broker close a lane's channel: those that were unconfirmed are tried
 * elsewhere, a hundred at once, then ten of those on which that channel closed, then each alone,
 * until one is convicted; then the rest is free. Later rows of their keys wait meanwhile.
 */
final class Suspects {
  private static final int AT_ONCE = 100;

  private final InFlight rows;
  private final Quarantine quarantine;
  private final Court court;
  private final Silence silence;
  private final Set<Held> round = new LinkedHashSet<>();
  private ParkedReason charge = ParkedReason.REJECTED;
  private int trying;

  /** Who acts on what was found. */
  interface Court {
    /** A verdict, as from the lane's own channel. */
    void judged(Held held, Publisher.Verdict verdict);

    /** Suspects are free again. */
    void released();

    /** Runs a step; where it fails, the lane is void. */
    void guarded(Runnable step);
  }

  Suspects(InFlight rows, Quarantine quarantine, Court court, Silence silence) {
    this.silence = silence;
    this.rows = rows;
    this.quarantine = quarantine;
    this.court = court;
  }

  /**
   * @param unconfirmed in their order
   * @param reason why the channel was closed
   */
  void accuse(List<Held> unconfirmed, ParkedReason reason, boolean ordered) {
    List<Held> accused = new ArrayList<>(unconfirmed);
    if (ordered && !Destinations.about(reason)) {
      accused.sort(Comparator.comparing(held -> !remarkable(held.row)));
    }
    charge = reason;
    round.addAll(accused);
    next();
  }

  private void next() {
    if (trying > 0) {
      return;
    }
    if (round.isEmpty()) {
      court.released();
      return;
    }
    List<Held> some = some();
    some.forEach(round::remove);
    trying = some.size();
    some.forEach(this::attempt);
  }

  /**
   * Who is tried next: of those that one row's verdict speaks for one; where the row itself is to
   * blame, first those that carry what the broker checks.
   */
  private List<Held> some() {
    List<Held> some = new ArrayList<>();
    Set<Object> represented = new HashSet<>();
    boolean about = Destinations.about(charge);
    boolean remarkable = remarkable(round.iterator().next().row);
    for (Held held : round) {
      OutboxRow row = held.row;
      boolean its =
          about
              ? represented.add(Destinations.kind(charge, row.route()))
              : remarkable(row) == remarkable;
      if (its) {
        some.add(held);
      }
      if (some.size() == AT_ONCE) {
        break;
      }
    }
    return some;
  }

  private void attempt(Held held) {
    quarantine
        .attempt(held.row, false)
        .onSuccess(verdict -> court.guarded(() -> judge(held, verdict)))
        .onFailure(
            failure -> {
              if (Silence.unanswered(failure)) {
                court.guarded(() -> unanswered(held));
              }
            });
  }

  /** It is not to blame: the channel stayed open. The others do not wait for it. */
  private void unanswered(Held held) {
    trying--;
    silence.hold(held);
    next();
  }

  private void judge(Held held, Publisher.Verdict verdict) {
    trying--;
    ParkedReason refusal = verdict.refusal();
    court.judged(held, verdict);
    if (refusal != null && closes(refusal)) {
      release(new ArrayList<>(round));
    } else if (Destinations.about(charge)) {
      OutboxRow.Route proven = held.row.route();
      release(
          round.stream()
              .filter(each -> Destinations.alike(charge, proven, each.row.route()))
              .toList());
    }
    next();
  }

  private void release(List<Held> innocent) {
    innocent.forEach(round::remove);
    if (!innocent.isEmpty()) {
      rows.release(innocent);
      court.released();
    }
  }

  static boolean closes(ParkedReason reason) {
    return Destinations.about(reason)
        || reason == ParkedReason.INVALID_PROPERTY
        || reason == ParkedReason.TOO_LARGE;
  }

  /** Whether it carries what the broker checks: those are tried first. */
  static boolean remarkable(OutboxRow row) {
    return row.message().body().length > 1 << 20 || checked(row);
  }

  /** Whether it carries a property that the broker answers with 406 when it is wrong. */
  static boolean checked(OutboxRow row) {
    String properties = row.message().properties();
    String headers = row.message().headers();
    return properties.contains("\"expiration\"")
        || properties.contains("\"user_id\"")
        || properties.contains("\"amq.rabbitmq.reply-to\"")
        || headers.contains("\"CC\"")
        || headers.contains("\"BCC\"");
  }
}
