package dev.fencepost.boot;

import dev.fencepost.api.ActivityHandler;
import dev.fencepost.api.BlockingActivityHandler;
import dev.fencepost.api.EffectHandler;
import dev.fencepost.api.Fencepost;
import dev.fencepost.api.Reloaded;
import dev.fencepost.config.ConfigLoader;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.model.FencepostException;
import dev.fencepost.worker.BoundHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fencepost in somebody else's Vert.x application. */
public final class EmbeddedFencepost implements Fencepost {

  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedFencepost.class);

  private final Vertx vertx;
  private final FencepostConfig config;
  private final CodeHandlers handlers = new CodeHandlers();
  private volatile @Nullable Service service;
  private Future<Void> reloading = Future.succeededFuture();

  EmbeddedFencepost(Vertx vertx, FencepostConfig config) {
    this.vertx = vertx;
    this.config = config;
  }

  @Override
  public Fencepost handler(String consumer, String type, ActivityHandler handler) {
    handlers.register(consumer, type, new BoundHandler.Async(handler));
    return this;
  }

  @Override
  public Fencepost blockingHandler(String consumer, String type, BlockingActivityHandler handler) {
    handlers.register(consumer, type, new BoundHandler.Blocking(handler));
    return this;
  }

  @Override
  public Fencepost effectHandler(String consumer, String type, EffectHandler handler) {
    handlers.register(consumer, type, new BoundHandler.Effect(handler));
    return this;
  }

  @Override
  public Future<Void> start() {
    if (service != null) {
      return Future.failedFuture(new IllegalStateException("has been started before"));
    }
    Service made;
    try {
      made =
          new Service(
              vertx, config, Parts.of(config), new Service.Wiring(handlers, Telemetry.of(config)));
    } catch (FencepostException e) {
      return Future.failedFuture(e);
    }
    service = made;
    made.refused().onFailure(failure -> LOG.error("{}", failure.getMessage()));
    return made.start().recover(failure -> made.stop().compose(v -> Future.failedFuture(failure)));
  }

  @Override
  public Future<Reloaded> reload(Path configuration) {
    return reload(() -> ConfigLoader.load(configuration, System.getenv()));
  }

  @Override
  public Future<Reloaded> reload(String yaml) {
    return reload(() -> ConfigLoader.parse(yaml, System.getenv()));
  }

  private Future<Reloaded> reload(Supplier<FencepostConfig> source) {
    Service running = service;
    if (running == null) {
      return Future.failedFuture(new IllegalStateException("has not been started"));
    }
    FencepostConfig fresh;
    try {
      fresh = source.get();
      handlers.check(fresh);
      running.check(fresh);
    } catch (FencepostException e) {
      return Future.failedFuture(e);
    }
    Future<Reloaded> next =
        reloading
            .transform(before -> running.reload(fresh))
            .map(diff -> new Reloaded(diff.applied(), diff.needRestart()));
    reloading = next.mapEmpty();
    return next;
  }

  @Override
  public Future<Void> stop() {
    Service made = service;
    return made == null ? Future.succeededFuture() : made.stop();
  }

  /** Made by {@link java.util.ServiceLoader}. */
  public static final class Factory implements Fencepost.Factory {
    @Override
    public Fencepost create(Vertx vertx, Path configuration) {
      return new EmbeddedFencepost(vertx, ConfigLoader.load(configuration, System.getenv()));
    }

    @Override
    public Fencepost create(Vertx vertx, String yaml) {
      return new EmbeddedFencepost(vertx, ConfigLoader.parse(yaml, System.getenv()));
    }
  }
}
