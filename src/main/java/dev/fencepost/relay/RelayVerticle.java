package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Gives the relay its context; nothing more. */
public final class RelayVerticle extends VerticleBase {
  private final RelaySettings settings;
  private final Function<Vertx, RelayPorts> ports;
  private @Nullable RelayLoop loop;

  /**
   * @param ports made on the verticle's context
   */
  public RelayVerticle(RelaySettings settings, Function<Vertx, RelayPorts> ports) {
    this.settings = settings;
    this.ports = ports;
  }

  @Override
  public Future<?> start() {
    RelayLoop started = new RelayLoop(vertx, settings, ports.apply(vertx));
    started.start();
    loop = started;
    return Future.succeededFuture();
  }

  /**
   * Applies what a reload may change: the pace of looking at the outbox. From any thread.
   *
   * @return completes when it holds
   */
  public Future<Void> reload(FencepostConfig.Relay fresh) {
    Promise<Void> applied = Promise.promise();
    context.runOnContext(
        v -> {
          if (loop != null) {
            loop.reloaded(fresh.paging());
          }
          applied.complete();
        });
    return applied.future();
  }

  @Override
  public Future<?> stop() {
    return loop == null ? Future.succeededFuture() : loop.stop();
  }
}
