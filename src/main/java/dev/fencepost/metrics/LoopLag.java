package dev.fencepost.metrics;

import io.micrometer.core.instrument.Tags;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** How late timers fire on an event loop: the time that something blocked it. */
final class LoopLag extends VerticleBase {
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final double NANOS = 1e9;

  private final AtomicLong lag;

  private LoopLag(AtomicLong lag) {
    this.lag = lag;
  }

  /** Watches every event loop: instances of a verticle are spread over them in turn. */
  static Future<Void> watch(Vertx vertx, Instruments instruments) {
    int loops = VertxOptions.DEFAULT_EVENT_LOOP_POOL_SIZE;
    AtomicInteger next = new AtomicInteger();
    AtomicLong[] lags = new AtomicLong[loops];
    for (int i = 0; i < loops; i++) {
      lags[i] = new AtomicLong();
      instruments.gauge(
          "fencepost.event.loop.lag",
          "How late a timer fired on this event loop, at worst in the last second",
          Tags.of("loop", String.valueOf(i)),
          lags[i],
          nanos -> nanos.get() / NANOS);
    }
    return vertx
        .deployVerticle(
            () -> new LoopLag(lags[next.getAndIncrement()]),
            new DeploymentOptions().setInstances(loops))
        .mapEmpty();
  }

  @Override
  public Future<?> start() {
    tick();
    return Future.succeededFuture();
  }

  private void tick() {
    long due = System.nanoTime() + EVERY.toNanos();
    vertx.setTimer(
        EVERY.toMillis(),
        fired -> {
          lag.set(Math.max(0, System.nanoTime() - due));
          tick();
        });
  }
}
