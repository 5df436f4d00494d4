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
   * @param code what it is, such as {@code database_unreachable}: for everyone
   * @param reason in words, without secrets; may name hosts, users and databases
   */
  record Reason(String part, String code, String reason) {}
}
