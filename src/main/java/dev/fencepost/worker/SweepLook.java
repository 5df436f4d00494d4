package dev.fencepost.worker;

import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.Map;

/** Asks for all queues at once which of them a sweep may find anything in, and has those swept. */
final class SweepLook {
  private final WorkerEnv env;
  private final Map<String, Swept> sweeps = new LinkedHashMap<>();

  private record Swept(RecoverySweep sweep, Rearmed loop) {}

  SweepLook(WorkerEnv env) {
    this.env = env;
  }

  void add(String consumer, RecoverySweep sweep, Rearmed loop) {
    sweeps.put(consumer, new Swept(sweep, loop));
  }

  Future<Void> tick() {
    return env.store()
        .mayNeedSweep(sweeps.keySet())
        .map(
            found -> {
              sweeps.forEach(
                  (consumer, of) -> {
                    if (found.contains(consumer)) {
                      of.loop.nudge();
                    } else {
                      of.sweep.foundNothing();
                    }
                  });
              return null;
            });
  }
}
