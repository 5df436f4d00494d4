package dev.fencepost.pg;

import dev.fencepost.relay.Publisher;
import dev.fencepost.relay.RelayEvents;
import dev.fencepost.relay.RelayPorts;
import io.vertx.core.Vertx;

/** The relay's ports on PostgreSQL. */
public final class PgRelay {
  private PgRelay() {}

  public static RelayPorts ports(
      Vertx vertx, PgDatabase database, Publisher publisher, RelayEvents events) {
    return new RelayPorts(
        new PgOutboxStore(database),
        new PgLaneStore(database),
        new PgParkedRows(database),
        new PgRelayUpkeep(database),
        new PgDoorbell(vertx, database),
        publisher,
        events);
  }
}
