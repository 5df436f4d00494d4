package dev.fencepost.rabbit;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one consumer channel has delivered and not acknowledged. Settled deliveries are acknowledged
 * over their contiguous prefix at once; when an unsettled head has held others up for a while, they
 * are acknowledged singly past it. Plain and confined to one context; time is passed in.
 */
final class AckLedger {

  /** How long settled deliveries wait for an unsettled one before them. */
  static final long PATIENCE_NANOS = 50_000_000L;

  /** An acknowledgement to send. */
  record Ack(long tag, boolean multiple) {}

  /** Delivered and not acknowledged, in order, with whether it is settled. */
  private final LinkedHashMap<Long, Boolean> outstanding = new LinkedHashMap<>();

  /** Settled behind the head, in the order of settling. */
  private final List<Long> behind = new ArrayList<>();

  /** Since when the present head has held others up; means something while any wait behind it. */
  private long heldSince;

  void delivered(long tag) {
    outstanding.put(tag, Boolean.FALSE);
  }

  /**
   * @return false when nothing of that tag is outstanding: it was settled before, or never came
   */
  boolean settle(long tag, long now) {
    if (!outstanding.replace(tag, Boolean.FALSE, Boolean.TRUE)) {
      return false;
    }
    if (behind.isEmpty()) {
      heldSince = now;
    }
    behind.add(tag);
    return true;
  }

  /** Takes what may be sent now. */
  List<Ack> take(long now) {
    List<Ack> acks = new ArrayList<>();
    if (takePrefix(acks) && !behind.isEmpty()) {
      heldSince = now; // a new head
    }
    if (!behind.isEmpty() && now - heldSince >= PATIENCE_NANOS) {
      takeSingly(acks);
    }
    return acks;
  }

  /** Takes all that is settled, however short the wait: before a channel is closed. */
  List<Ack> takeAll() {
    List<Ack> acks = new ArrayList<>();
    takePrefix(acks);
    takeSingly(acks);
    return acks;
  }

  /** Whether something settled waits for its turn. */
  boolean waiting() {
    return !behind.isEmpty();
  }

  int outstanding() {
    return outstanding.size();
  }

  private boolean takePrefix(List<Ack> acks) {
    long last = 0;
    int count = 0;
    Iterator<Map.Entry<Long, Boolean>> oldest = outstanding.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<Long, Boolean> entry = oldest.next();
      if (!entry.getValue()) {
        break;
      }
      last = entry.getKey();
      count++;
      oldest.remove();
    }
    if (count == 0) {
      return false;
    }
    acks.add(new Ack(last, count > 1));
    behind.removeIf(tag -> !outstanding.containsKey(tag));
    return true;
  }

  private void takeSingly(List<Ack> acks) {
    for (Long tag : behind) {
      acks.add(new Ack(tag, false));
      outstanding.remove(tag);
    }
    behind.clear();
  }
}
