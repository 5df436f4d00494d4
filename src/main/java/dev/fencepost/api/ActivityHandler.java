package dev.fencepost.api;

import io.vertx.core.Future;

/** Runs an activity without blocking. Called on the worker's event loop, one call per start. */
public interface ActivityHandler {

  /**
   * Does the work of one event.
   *
   * <p>Fail with {@link TransientFailure} only when it is certain that the work did not happen, or
   * when repeating it is harmless; with {@link PermanentFailure} when repeating is pointless. Any
   * other failure, a thrown exception and null count as permanent, or as unknown where a repetition
   * is unsafe ({@code queryable}, {@code irreversible}).
   *
   * @return the receipt of what was done; never null
   */
  Future<Receipt> run(ActivityContext context);

  /**
   * Asks the remote whether this event's work has happened. Needed for {@code queryable}
   * activities, called for no others.
   */
  default Future<ProbeResult> probe(ActivityContext context) {
    return Future.succeededFuture(ProbeResult.unknown("this handler has no probe"));
  }
}
