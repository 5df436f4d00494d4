package dev.fencepost.relay;

import io.vertx.core.Future;

/**
 * Port: writers ring while a relay sleeps, and pay nothing while none does. Nothing rests on it: a
 * bell that is missed costs one pause between polls.
 */
public interface Doorbell {

  /**
   * Calls {@code ring} on the caller's context whenever it rings; connects by itself, and again.
   */
  void listen(Runnable ring);

  /**
   * Says that this relay goes to sleep: the next insert rings. To be followed by one more poll.
   *
   * @return whether it can be heard at all
   */
  Future<Boolean> asleep();

  /** Stops listening. */
  Future<Void> close();
}
