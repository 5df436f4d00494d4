package dev.fencepost.worker;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;

/** Vert.x timers and the context of one verticle. */
final class VertxTimers implements Timers {
  private final Vertx vertx;
  private final Context context;

  VertxTimers(Vertx vertx, Context context) {
    this.vertx = vertx;
    this.context = context;
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public Instant wallClock() {
    return Instant.now();
  }

  @Override
  public Timer after(Duration delay, Runnable task) {
    long id = vertx.setTimer(Math.max(1, delay.toMillis()), fired -> task.run());
    return () -> vertx.cancelTimer(id);
  }

  @Override
  public void execute(Runnable task) {
    context.runOnContext(v -> task.run());
  }

  @Override
  public boolean onContext() {
    return Vertx.currentContext() == context;
  }
}
