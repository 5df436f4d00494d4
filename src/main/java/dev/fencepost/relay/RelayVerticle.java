package dev.fencepost.relay;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.function.Function;

/** Gives the relay its context; nothing more. */
public final class RelayVerticle extends VerticleBase {
  private final RelaySettings settings;
  private final Function<io.vertx.core.Vertx, RelayPorts> ports;
  private RelayLoop loop;

  /**
   * @param ports made on the verticle's context
   */
  public RelayVerticle(RelaySettings settings, Function<io.vertx.core.Vertx, RelayPorts> ports) {
    this.settings = settings;
    this.ports = ports;
  }

  @Override
  public Future<?> start() {
    loop = new RelayLoop(vertx, settings, ports.apply(vertx));
    loop.start();
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    return loop == null ? Future.succeededFuture() : loop.stop();
  }
}
