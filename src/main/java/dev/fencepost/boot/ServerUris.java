package dev.fencepost.boot;

import dev.fencepost.config.ConfigFaults.Fault;
import dev.fencepost.config.FencepostConfig;
import dev.fencepost.pg.PgDatabase;
import dev.fencepost.rabbit.RabbitBroker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The addresses of a configuration, read as those who connect read them. */
public final class ServerUris {

  private static final String DATABASE =
      "postgresql://user:password@host:port/database?sslmode=verify-full";
  private static final String BROKER = "amqp[s]://user:password@host:port/vhost?heartbeat=10";

  private ServerUris() {}

  /** Each that could not be used, whatever answers there. */
  public static List<Fault> faults(FencepostConfig config) {
    List<Fault> faults = new ArrayList<>();
    add(faults, "database", config.database().uris(), PgDatabase::uriFault, DATABASE);
    add(faults, "broker", config.broker().uris(), RabbitBroker::uriFault, BROKER);
    return faults;
  }

  private static void add(
      List<Fault> faults,
      String section,
      List<String> uris,
      Function<String, Optional<String>> read,
      String allowed) {
    for (int i = 0; i < uris.size(); i++) {
      String path = section + ".uris[" + i + "]";
      read.apply(uris.get(i)).ifPresent(what -> faults.add(new Fault(path, what, allowed)));
    }
  }
}
