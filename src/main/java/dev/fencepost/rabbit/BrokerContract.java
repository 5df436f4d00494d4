package dev.fencepost.rabbit;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.config.QueueConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

final class BrokerContract implements ContractCheck {
  BrokerContract(Vertx vertx, FencepostConfig.Broker config) {}

  @Override
  public Future<Void> check(BrokerConnection connection, QueueConfig queue) {
    return Future.succeededFuture();
  }
}
