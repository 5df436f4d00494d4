package dev.fencepost.operations;

import io.vertx.core.Future;
import java.time.Duration;

/** Port: waits without blocking. */
public interface Pacing {
  Future<Void> pause(Duration time);
}
