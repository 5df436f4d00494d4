package dev.fencepost.rabbit;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.Consumer;

/**
 * Acknowledges what is settled of one registration, on its context: once per turn of the event
 * loop, so that what is settled together is acknowledged together. Ends with its epoch.
 */
final class Acknowledger {

  private static final long PATIENCE_MILLIS = AckLedger.PATIENCE_NANOS / 1_000_000 + 1;

  private final Vertx vertx;
  private final Context context;
  private final Consumer<List<AckLedger.Ack>> sender;
  private final AckLedger ledger = new AckLedger();
  private boolean flushing;
  private boolean ended;
  private long timer = -1;

  /**
   * @param sender hands acknowledgements to the channel's thread
   */
  Acknowledger(Vertx vertx, Context context, Consumer<List<AckLedger.Ack>> sender) {
    this.vertx = vertx;
    this.context = context;
    this.sender = sender;
  }

  void delivered(long tag) {
    ledger.delivered(tag);
  }

  /**
   * @return false when nothing of that tag is outstanding
   */
  boolean settle(long tag) {
    if (!ledger.settle(tag, System.nanoTime())) {
      return false;
    }
    if (!flushing) {
      flushing = true;
      context.runOnContext(v -> flush());
    }
    return true;
  }

  /** Sends all that is settled; nothing after that. */
  void finish() {
    send(ledger.takeAll());
    end();
  }

  /** Sends nothing more: the channel has gone, and its tags mean nothing. */
  void end() {
    ended = true;
    if (timer >= 0) {
      vertx.cancelTimer(timer);
    }
  }

  private void flush() {
    flushing = false;
    if (ended) {
      return;
    }
    send(ledger.take(System.nanoTime()));
    if (ledger.waiting() && timer < 0) {
      timer =
          vertx.setTimer(
              PATIENCE_MILLIS,
              id -> {
                timer = -1;
                flush();
              });
    }
  }

  private void send(List<AckLedger.Ack> acks) {
    if (!acks.isEmpty()) {
      sender.accept(acks);
    }
  }
}
