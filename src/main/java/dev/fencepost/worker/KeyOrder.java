package dev.fencepost.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Events of one key go on one at a time, in the order they came; the store blocks the rest. */
final class KeyOrder {
  private final Map<String, ArrayDeque<Turn>> keys = new HashMap<>();
  private final Consumer<Turn> next;

  /**
   * @param next takes an event whose turn has come
   */
  KeyOrder(Consumer<Turn> next) {
    this.next = next;
  }

  void offer(Turn event) {
    String key = event.orderedBy();
    if (key == null) {
      next.accept(event);
      return;
    }
    ArrayDeque<Turn> line = keys.get(key);
    if (line == null) {
      keys.put(key, new ArrayDeque<>(2));
      event.hasTurn = true;
      next.accept(event);
    } else {
      line.add(event);
    }
  }

  /** Those that have not had their turn; they leave. */
  List<Turn> takeWaiting() {
    List<Turn> taken = new ArrayList<>();
    for (ArrayDeque<Turn> line : keys.values()) {
      taken.addAll(line);
      line.clear();
    }
    return taken;
  }

  /** One has ended or was dropped; does nothing unless it had its turn. */
  void ended(Turn event) {
    String key = event.orderedBy();
    if (key == null || !event.hasTurn) {
      return;
    }
    event.hasTurn = false;
    ArrayDeque<Turn> line = keys.get(key);
    Turn following = null;
    if (line != null) {
      do {
        following = line.poll();
      } while (following != null && following.finished);
    }
    if (following == null) {
      keys.remove(key);
    } else {
      following.hasTurn = true;
      next.accept(following);
    }
  }
}
