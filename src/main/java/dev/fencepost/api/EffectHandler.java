package dev.fencepost.api;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;

/** Writes an effect to Fencepost's own database, in one transaction with the receipt. */
public interface EffectHandler {

  /**
   * Writes the effect of one event.
   *
   * @param transaction a connection inside the transaction that also records the receipt; the
   *     handler must neither commit, roll back nor close it, and must not use it after its future
   *     has completed. Other events may share the transaction.
   * @return the receipt; never null
   */
  Future<Receipt> run(ActivityContext context, SqlConnection transaction);
}
