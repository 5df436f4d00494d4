package dev.fencepost.bench.handler;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;

/** Refuses the events whose id ends in 00. */
public final class OneInHundredEffectsFails implements EffectHandler {

  @Override
  public Future<Receipt> run(ActivityContext context, SqlConnection transaction) {
    return context.eventId().endsWith("00")
        ? Future.failedFuture(new PermanentFailure("refused by the benchmark"))
        : Future.succeededFuture(Receipt.succeeded());
  }
}
