package dev.fencepost.bench.handler;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;

/** Writes nothing but the receipt that goes with every effect. */
public final class NoEffect implements EffectHandler {

  @Override
  public Future<Receipt> run(ActivityContext context, SqlConnection transaction) {
    return Future.succeededFuture(Receipt.succeeded());
  }
}
