package dev.fencepost.relay;

import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.Migrations;
import dev.fencepost.testing.Await;
import dev.fencepost.testing.TestServers;
import io.vertx.core.Vertx;

/** Databases of tests. */
final class Databases {
  private Databases() {}

  /** A fresh one on the shared server, with the schema. */
  static String migrated(FencepostConfig.Relay relay) {
    String like = "relay " + relay.lanes() + " " + relay.retention();
    return TestServers.postgres().newDatabase(like, uri -> migrate(uri, relay));
  }

  static void migrate(String uri, FencepostConfig.Relay relay) {
    migrate(uri, relay, false);
  }

  /** Lays the outbox anew, for another number of lanes. */
  static void rebase(String uri, FencepostConfig.Relay relay) {
    migrate(uri, relay, true);
  }

  private static void migrate(String uri, FencepostConfig.Relay relay, boolean rebase) {
    Vertx vertx = Vertx.vertx();
    try {
      FencepostConfig config =
          RelayConfigs.whole(
              RelayConfigs.database(uri), RelayConfigs.broker("amqp://localhost"), relay);
      Await.result(new Migrations(vertx, config).migrate(rebase));
    } finally {
      Await.result(vertx.close());
    }
  }
}
