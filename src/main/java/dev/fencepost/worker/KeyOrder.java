package dev.fencepost.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Events of one key go on one at a time, in the order they came; the store blocks the rest. */
final class KeyOrder {
  private final Map<String, ArrayDeque<Job>> keys = new HashMap<>();
  private final Consumer<Job> next;

  /**
   * @param next takes a job whose turn has come
   */
  KeyOrder(Consumer<Job> next) {
    this.next = next;
  }

  void offer(Job job) {
    String key = job.key;
    if (key == null || !job.lane.orderedByKey()) {
      next.accept(job);
      return;
    }
    ArrayDeque<Job> line = keys.get(key);
    if (line == null) {
      keys.put(key, new ArrayDeque<>(2));
      job.hasTurn = true;
      next.accept(job);
    } else {
      line.add(job);
    }
  }

  /** Those that have not had their turn; they leave. */
  List<Job> takeWaiting() {
    List<Job> taken = new ArrayList<>();
    for (ArrayDeque<Job> line : keys.values()) {
      taken.addAll(line);
      line.clear();
    }
    return taken;
  }

  /** A job has ended or was dropped; does nothing unless it had its turn. */
  void ended(Job job) {
    String key = job.key;
    if (key == null || !job.hasTurn) {
      return;
    }
    job.hasTurn = false;
    ArrayDeque<Job> line = keys.get(key);
    Job following = null;
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
