package dev.fencepost.worker;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;
import java.time.Duration;
import java.util.Optional;

/** A handler that has been found and made for one activity type. */
public sealed interface BoundHandler {

  /**
   * Whether starts make sense now. Asked before the claim, on the worker's context: a start that is
   * not made is not counted.
   */
  interface Admission {
    Admission OPEN = Optional::empty;

    /**
     * How long not to start anything: the handler's remote is known to be away (an open circuit
     * breaker). Empty: start.
     */
    Optional<Duration> closedFor();
  }

  /** The admission of its starts; open unless the handler knows better. */
  default Admission admission() {
    return Admission.OPEN;
  }

  record Async(ActivityHandler handler, Admission admission) implements BoundHandler {
    public Async(ActivityHandler handler) {
      this(handler, Admission.OPEN);
    }
  }

  record Blocking(BlockingActivityHandler handler) implements BoundHandler {}

  record Effect(EffectHandler handler) implements BoundHandler {}
}
