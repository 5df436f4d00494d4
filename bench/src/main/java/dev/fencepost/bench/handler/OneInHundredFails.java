package dev.fencepost.bench.handler;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.PermanentFailure;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;

/** Refuses the events whose id ends in 00. */
public final class OneInHundredFails implements ActivityHandler {

  @Override
  public Future<Receipt> run(ActivityContext context) {
    return context.eventId().endsWith("00")
        ? Future.failedFuture(new PermanentFailure("refused by the benchmark"))
        : Future.succeededFuture(Receipt.succeeded());
  }
}
