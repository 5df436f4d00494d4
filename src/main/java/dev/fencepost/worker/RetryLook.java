package dev.fencepost.worker;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks once a second for all queues which of them may have anything due, and wakes the retries of
 * those: a hundred queues in which nothing is due cost one question. What this process has
 * scheduled itself is waited for by the queue's own timer.
 */
final class RetryLook {
  static final Duration EVERY = Duration.ofSeconds(1);

  private final WorkerEnv env;
  private final Map<String, Retries> retries = new LinkedHashMap<>();
  private boolean away;

  private record Retries(RetryScheduler scheduler, Rearmed loop) {}

  RetryLook(WorkerEnv env) {
    this.env = env;
  }

  void add(String consumer, RetryScheduler scheduler, Rearmed loop) {
    retries.put(consumer, new Retries(scheduler, loop));
  }

  Duration pause() {
    return Beat.untilWhole(env.timers(), EVERY);
  }

  Future<Void> tick() {
    if (!env.admission().open()) {
      return Future.succeededFuture();
    }
    return env.store()
        .mayBeDue(retries.keySet())
        .onComplete(asked -> told(asked.cause()))
        .map(
            due -> {
              wake(due);
              return null;
            });
  }

  /** An answer takes back only what a look has said: a database that reads may not write. */
  private void told(@Nullable Throwable failure) {
    if (failure != null || away) {
      env.admission().database(failure);
    }
    away = failure != null;
  }

  /** Those with something to do, and those who keep slots for something that is gone. */
  private void wake(Set<String> due) {
    retries.forEach(
        (consumer, of) -> {
          if (due.contains(consumer) || of.scheduler.keepsSlots()) {
            of.loop.nudge();
          }
        });
  }
}
