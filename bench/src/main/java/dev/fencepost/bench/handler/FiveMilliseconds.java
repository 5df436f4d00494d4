package dev.fencepost.bench.handler;

import dev.fencepost.api.ActivityContext;
import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.Receipt;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;

/** Answers after 5 ms without holding a thread, as a quick remote does. */
public final class FiveMilliseconds implements ActivityHandler {

  private final Vertx vertx;

  public FiveMilliseconds(Vertx vertx) {
    this.vertx = vertx;
  }

  @Override
  public Future<Receipt> run(ActivityContext context) {
    return vertx.timer(5, TimeUnit.MILLISECONDS).map(fired -> Receipt.succeeded());
  }
}
