package dev.fencepost.rabbit;

import dev.fencepost.model.ParkedReason;
import dev.fencepost.relay.Publisher.Verdict;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one confirming channel has written and the broker has not answered: a ring by publish
 * sequence number. Turns confirms, nacks and returns into verdicts. Plain and confined to one
 * context; time is passed in.
 *
 * <p>RabbitMQ returns an unroutable message before it confirms it; other brokers nack first and
 * return after, so that a nack may have to wait for a return before it means rejection.
 */
final class ConfirmLedger {

  /** How long a nack waits for a return that may follow. */
  static final long NACK_GRACE_NANOS = 100_000_000L;

  private static final int FIRST_CAPACITY = 256;

  private final boolean returnFollowsNack;
  private final Consumer<Verdict> verdicts;
  private final Map<String, String> returned = new HashMap<>();
  private final LinkedHashMap<String, HeldNack> held = new LinkedHashMap<>();
  private @Nullable Outgoing[] ring = new Outgoing[FIRST_CAPACITY];

  /** The lowest publish sequence number without an answer, and the next to be given. */
  private long head = 1;

  private long next = 1;

  private record HeldNack(Outgoing message, long until) {}

  ConfirmLedger(boolean returnFollowsNack, Consumer<Verdict> verdicts) {
    this.returnFollowsNack = returnFollowsNack;
    this.verdicts = verdicts;
  }

  /** The next message in the order in which the writer writes them. */
  void add(Outgoing message) {
    if (next - head == ring.length) {
      grow();
    }
    ring[slot(next)] = message;
    next++;
  }

  void confirmed(long sequence, boolean multiple) {
    answer(sequence, multiple, this::confirm);
  }

  void nacked(long sequence, boolean multiple, long now) {
    answer(sequence, multiple, message -> nack(message, now));
  }

  /** The broker could route the message nowhere. */
  void returned(String messageId, String detail) {
    HeldNack nack = held.remove(messageId);
    if (nack != null) {
      verdicts.accept(unroutable(nack.message(), detail));
    } else {
      returned.put(messageId, detail);
    }
  }

  /** Gives up waiting for returns of messages nacked long enough ago. */
  void expire(long now) {
    held.values()
        .removeIf(
            nack -> {
              boolean due = now - nack.until() >= 0;
              if (due) {
                verdicts.accept(rejected(nack.message()));
              }
              return due;
            });
  }

  boolean holdsNacks() {
    return !held.isEmpty();
  }

  /** The unanswered message written first, or null. */
  @Nullable Outgoing oldest() {
    return head == next ? null : ring[slot(head)];
  }

  /** Whether a message without an answer meets the condition. */
  boolean anyUnanswered(java.util.function.Predicate<Outgoing> condition) {
    for (long s = head; s < next; s++) {
      Outgoing message = ring[slot(s)];
      if (message != null && condition.test(message)) {
        return true;
      }
    }
    return false;
  }

  private void answer(long sequence, boolean multiple, Consumer<Outgoing> how) {
    // Zero with multiple means all there are.
    long last = multiple && sequence == 0 ? next - 1 : Math.min(sequence, next - 1);
    for (long s = multiple ? head : Math.max(head, sequence); s <= last; s++) {
      Outgoing message = ring[slot(s)];
      if (message != null) {
        ring[slot(s)] = null;
        how.accept(message);
      }
    }
    while (head < next && ring[slot(head)] == null) {
      head++;
    }
  }

  private void confirm(Outgoing message) {
    String detail = returned.isEmpty() ? null : returned.remove(message.messageId);
    verdicts.accept(detail == null ? Verdict.confirmed(message.id) : unroutable(message, detail));
  }

  private void nack(Outgoing message, long now) {
    String detail = returned.remove(message.messageId);
    if (detail != null) {
      verdicts.accept(unroutable(message, detail));
    } else if (returnFollowsNack) {
      held.put(message.messageId, new HeldNack(message, now + NACK_GRACE_NANOS));
    } else {
      verdicts.accept(rejected(message));
    }
  }

  private static Verdict unroutable(Outgoing message, String detail) {
    return new Verdict(message.id, ParkedReason.UNROUTABLE, detail);
  }

  private static Verdict rejected(Outgoing message) {
    return new Verdict(
        message.id,
        ParkedReason.REJECTED,
        "the broker refused it (basic.nack): a queue is full or unavailable");
  }

  private int slot(long sequence) {
    return (int) (sequence & (ring.length - 1));
  }

  private void grow() {
    @Nullable Outgoing[] old = ring;
    ring = new Outgoing[old.length * 2];
    for (long s = head; s < next; s++) {
      ring[slot(s)] = old[(int) (s & (old.length - 1))];
    }
  }
}
