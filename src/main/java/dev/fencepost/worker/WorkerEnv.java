package dev.fencepost.worker;

import dev.fencepost.config.FencepostConfig;

/** What every part of a worker's loop works with; one per worker, confined to its context. */
record WorkerEnv(
    String owner,
    Timers timers,
    WorkerParts.Ports ports,
    FencepostConfig.Worker settings,
    Admission admission,
    ActiveJobs active) {

  ActivityStore store() {
    return ports.store();
  }

  WorkerEvents events() {
    return ports.events();
  }
}
