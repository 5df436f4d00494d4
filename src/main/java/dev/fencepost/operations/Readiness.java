package dev.fencepost.operations;

import io.vertx.core.Future;
import java.util.List;

/** Port: whether this process makes progress. */
public interface Readiness {

  /** Why it is not ready; empty when it is. Never fails. */
  Future<List<Reason>> reasons();

  /**
   * @param part what stands still, such as {@code relay}, {@code queue notifications}, {@code
   *     database}
   * @param reason in words, without secrets
   */
  record Reason(String part, String reason) {}
}
