package dev.fencepost.worker;

import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.Map;

/** Asks for all queues at once which of them a sweep may find anything in, and has those swept. */
final class SweepLook {
  private final WorkerEnv env;
  private final Map<String, RecoverySweep> sweeps = new LinkedHashMap<>();
  private final Map<String, Rearmed> loops = new LinkedHashMap<>();

  SweepLook(WorkerEnv env) {
    this.env = env;
  }

  void add(String consumer, RecoverySweep sweep, Rearmed loop) {
    sweeps.put(consumer, sweep);
    loops.put(consumer, loop);
  }

  Future<Void> tick() {
    return env.store()
        .mayNeedSweep(sweeps.keySet())
        .map(
            found -> {
              sweeps.forEach(
                  (consumer, sweep) -> {
                    if (found.contains(consumer)) {
                      loops.get(consumer).nudge();
                    } else {
                      sweep.foundNothing();
                    }
                  });
              return null;
            });
  }
}
