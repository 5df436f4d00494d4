package dev.fencepost.boot;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.operations.Readiness;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.pg.PgRelay;
import dev.fencepost.rabbit.RabbitBroker;
import dev.fencepost.relay.Publisher;
import dev.fencepost.relay.RelaySettings;
import dev.fencepost.relay.RelayVerticle;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import java.util.Optional;

/** The relay with its ports. */
final class RelayPart {

  private final RelayVerticle verticle;
  private final RelayProgress progress;

  RelayPart(
      String instance,
      FencepostConfig.Relay config,
      PgDatabase database,
      RabbitBroker broker,
      Telemetry telemetry) {
    this.progress = new RelayProgress(telemetry.relay());
    this.verticle =
        new RelayVerticle(
            new RelaySettings(instance, config),
            vertx -> {
              Publisher publisher =
                  telemetry.tracing().publisher(broker.publisher(config.limits()));
              return PgRelay.ports(vertx, database, publisher, progress);
            });
  }

  Deployable verticle() {
    return verticle;
  }

  Future<Void> reload(FencepostConfig.Relay fresh) {
    return verticle.reload(fresh);
  }

  Optional<Readiness.Reason> standstill() {
    return progress.standstill();
  }
}
