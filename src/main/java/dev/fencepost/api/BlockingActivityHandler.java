package dev.fencepost.api;

/** Runs an activity on a thread of the worker's pool; may block. Interrupted at the hard limit. */
public interface BlockingActivityHandler {

  /**
   * Does the work of one event; failures as for {@link ActivityHandler#run}.
   *
   * @return the receipt of what was done; never null
   */
  Receipt run(ActivityContext context) throws Exception;

  /** As {@link ActivityHandler#probe}, on a thread of the pool. */
  default ProbeResult probe(ActivityContext context) throws Exception {
    return ProbeResult.unknown("this handler has no probe");
  }
}
