package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import dev.fencepost.model.ParkedReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the row that made the broker close a lane's channel: those that were unconfirmed are tried
 * alone until one is convicted; then the rest is free. Later rows of their keys wait meanwhile.
 */
final class Suspects {
  private final InFlight rows;
  private final Quarantine quarantine;
  private final Court court;
  private final Silence silence;
  private final Set<Held> round = new LinkedHashSet<>();
  private ParkedReason charge = ParkedReason.REJECTED;
  private boolean trying;

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
    if (trying) {
      return;
    }
    if (round.isEmpty()) {
      court.released();
      return;
    }
    Held held = round.iterator().next();
    round.remove(held);
    trying = true;
    quarantine
        .attempt(held.row, true)
        .onSuccess(
            verdict -> {
              trying = false;
              court.guarded(() -> judge(held, verdict));
            })
        .onFailure(
            failure -> {
              trying = false;
              if (Silence.unanswered(failure)) {
                court.guarded(() -> unanswered(held));
              }
            });
  }

  /** It is not to blame: the channel stayed open. The others do not wait for it. */
  private void unanswered(Held held) {
    silence.hold(held);
    next();
  }

  private void judge(Held held, Publisher.Verdict verdict) {
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
    rows.release(innocent);
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
