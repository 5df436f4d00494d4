package dev.fencepost.bench.handler;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;

/** Does nothing: what is measured is the worker's own cost. */
public final class NoOperation implements ActivityHandler {

  @Override
  public Future<Receipt> run(ActivityContext context) {
    return Future.succeededFuture(Receipt.succeeded());
  }
}
