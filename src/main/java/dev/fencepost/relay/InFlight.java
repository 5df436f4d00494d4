package dev.fencepost.relay;

import dev.fencepost.model.OutboxRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a lane that are in memory, in the order of the outbox: who may be sent, who was, and
 * how far all are settled. With order by key, one row of a key is ready or sent at a time.
 */
final class InFlight {
  private final boolean ordered;
  private final Deque<Held> order = new ArrayDeque<>();

  /** The oldest first: a row that waited for its key goes before all that came after it. */
  private final PriorityQueue<Held> ready =
      new PriorityQueue<>(Comparator.comparingLong(held -> held.admitted));

  private final Map<Long, Held> sent = new HashMap<>();
  private final Map<String, Held> lastOfKey = new HashMap<>();
  private final Set<String> ids = new HashSet<>();
  private final Map<String, Deque<Held>> sameId = new HashMap<>();
  private long bytes;
  private int exposed;
  private int settledExposed;
  private int covering;
  private long admissions;

  InFlight(boolean ordered) {
    this.ordered = ordered;
  }

  int size() {
    return order.size();
  }

  long bytes() {
    return bytes;
  }

  int unconfirmed() {
    return sent.size();
  }

  boolean isEmpty() {
    return order.isEmpty();
  }

  /** Rows that a crash would send again: written to the broker, not covered by a checkpoint. */
  int exposed() {
    return exposed;
  }

  /** Those of them that are settled, so that the next checkpoint covers them. */
  int coverable() {
    return settledExposed;
  }

  /** A checkpoint is being appended that covers them. */
  void cover() {
    covering = settledExposed;
    settledExposed = 0;
  }

  /** It has been appended. */
  void covered() {
    exposed -= covering;
    covering = 0;
  }

  Held admit(OutboxRow row, Batch batch) {
    Held held = new Held(row, batch, admissions++);
    order.add(held);
    batch.hold();
    bytes += row.message().size();
    return held;
  }

  /** Lets it be sent, behind those of its key. */
  void enqueue(Held held) {
    String key = held.row.key();
    if (!ordered || key == null) {
      makeReady(held);
      return;
    }
    Held before = lastOfKey.put(key, held);
    if (before == null) {
      makeReady(held);
    } else {
      before.behind = held;
    }
  }

  private void makeReady(Held held) {
    held.state = Held.State.READY;
    ready.add(held);
  }

  boolean hasReady() {
    return !ready.isEmpty();
  }

  /**
   * The next row to be written, or null; two rows of one event id are never out together. The head
   * of the order needs no room: until it is settled, none comes free.
   *
   * @param room whether one may be written that was not before
   */
  @Nullable Held poll(boolean room) {
    Held held;
    while ((held = ready.peek()) != null) {
      if (held.state == Held.State.READY && !held.exposed && !room && held != order.peek()) {
        return null;
      }
      ready.remove();
      if (held.state != Held.State.READY) {
        continue;
      }
      if (ids.add(held.row.eventId())) {
        return held;
      }
      sameId.computeIfAbsent(held.row.eventId(), id -> new ArrayDeque<>()).add(held);
    }
    return null;
  }

  void markSent(Held held, long now) {
    held.state = Held.State.SENT;
    held.sentAt = now;
    sent.put(held.row.seq(), held);
    if (!held.exposed) {
      held.exposed = true;
      exposed++;
    }
  }

  /** The sent row with this seq, which is no longer out; null when it is unknown. */
  @Nullable Held answered(long seq) {
    Held held = sent.remove(seq);
    if (held != null) {
      leaveId(held);
    }
    return held;
  }

  /** A row that was polled is not sent after all. */
  void leave(Held held) {
    leaveId(held);
  }

  private void leaveId(Held held) {
    String id = held.row.eventId();
    ids.remove(id);
    if (sameId.isEmpty()) {
      return;
    }
    Deque<Held> waiting = sameId.remove(id);
    if (waiting != null) {
      ready.addAll(waiting);
    }
  }

  /** Settled: published, or safe in another table. */
  void settle(Held held) {
    held.state = Held.State.SETTLED;
    String key = held.row.key();
    if (ordered && key != null) {
      if (held.behind != null) {
        makeReady(held.behind);
        held.behind = null;
      } else {
        lastOfKey.remove(key, held);
      }
    }
  }

  /** Takes a row and those behind it out of the running: they are to be parked, in this order. */
  List<Held> withdraw(Held first) {
    List<Held> out = new ArrayList<>();
    for (Held held = first; held != null; ) {
      Held next = held.behind;
      held.state = Held.State.PARKING;
      held.behind = null;
      out.add(held);
      held = next;
    }
    String key = first.row.key();
    if (ordered && key != null) {
      lastOfKey.remove(key);
    }
    return out;
  }

  /**
   * The channel has gone.
   *
   * @param suspect whether one of the rows that were out is to blame: they are then kept aside,
   *     otherwise ready again
   * @return the rows that were out, in their order
   */
  List<Held> recall(boolean suspect) {
    List<Held> out = new ArrayList<>(sent.size());
    for (Held held : order) {
      if (held.state == Held.State.SENT) {
        held.state = suspect ? Held.State.SUSPECT : Held.State.READY;
        out.add(held);
      }
    }
    sent.clear();
    ids.clear();
    sameId.clear();
    restock();
    return out;
  }

  /** Nothing is held against them any more: ready again. */
  void release(List<Held> suspects) {
    suspects.forEach(this::makeReady);
  }

  private void restock() {
    ready.clear();
    for (Held held : order) {
      if (held.state == Held.State.READY) {
        ready.add(held);
      }
    }
  }

  /** Forgets the head of the order as far as it is settled. */
  boolean advance() {
    boolean moved = false;
    Held head;
    while ((head = order.peek()) != null && head.state == Held.State.SETTLED) {
      order.remove();
      bytes -= head.row.message().size();
      head.batch.settle(head.row.seq());
      if (head.exposed) {
        settledExposed++;
      }
      moved = true;
    }
    return moved;
  }

  @Nullable Held head() {
    return order.peek();
  }
}
