package dev.fencepost.pg;

import dev.fencepost.api.Receipt;
import dev.fencepost.model.ActivityId;
import dev.fencepost.worker.ActivityStore.EffectGroup;
import dev.fencepost.worker.ActivityStore.FailedEffect;
import dev.fencepost.worker.Claim;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.List;

/** No transaction: what was asked for is committed already, and only the answer had been lost. */
record AppliedEffects(Claim.Duplicate answer) implements EffectGroup {
  @Override
  public List<Claim.Answer> answers() {
    return List.of(answer);
  }

  @Override
  public SqlConnection connection() {
    throw new IllegalStateException("nothing is left to run");
  }

  @Override
  public Future<Void> commit(List<Receipt> receipts) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> rollback() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> savepoint() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> rollbackToSavepoint() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> withdraw(List<ActivityId> ids) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> fail(List<FailedEffect> failed) {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> abandon() {
    return Future.succeededFuture();
  }
}
