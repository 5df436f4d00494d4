package dev.fencepost.bench;

import java.nio.file.Path;

/** The product's relay. */
class FencepostRelay extends Relay {

  private static final int LANES = 8;

  /** How many processes have an even share of the lanes. */
  private static final String EVEN =
      "select count(*) from (select owner from fencepost.relay_lanes where lease_until > now()"
          + " group by owner having count(*) = %d) even";

  private final String[] jvm;
  private Path file;

  FencepostRelay(Servers servers, String queueType) {
    this("fencepost", "", servers, queueType);
  }

  /**
   * @param more what is to be said about it beside its settings
   */
  FencepostRelay(String name, String more, Servers servers, String queueType, String... jvm) {
    super(name, LANES + " lanes, ordering key, all defaults" + more, servers, queueType);
    this.jvm = jvm;
  }

  @Override
  void prepare() {
    file =
        Fencepost.migrate(
            name(), Fencepost.servers(servers, database) + "worker: {enabled: false}\n");
  }

  /** Where its events go. */
  Destination destination() {
    return queue;
  }

  @Override
  JavaProcess launch() {
    return Fencepost.run(name(), file, jvm);
  }

  /** One more process beside the first. */
  final JavaProcess another(int number) {
    return Fencepost.run(name() + " " + number, file, jvm);
  }

  /** How many processes share the lanes. */
  int owners() {
    return 1;
  }

  @Override
  final boolean ready() {
    return database.number(EVEN.formatted(LANES / owners())) == owners();
  }

  /** Its leases have run out while it was frozen. */
  @Override
  final void thaw() {
    super.thaw();
    awaitReady();
  }

  @Override
  void fill(int rows, int size) {
    database.execute(Fencepost.fill(destination(), rows, size));
  }

  @Override
  String insert() {
    return Fencepost.insert(destination());
  }
}
